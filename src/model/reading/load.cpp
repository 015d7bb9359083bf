#include "model/reading/load.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "model/named.hpp"
#include "platform/embedded.hpp"
#include "platform/files.hpp"
#include "platform/memo.hpp"
#include "platform/paths.hpp"

namespace headway {
namespace {

Result<Model> from_document(const Result<Document>& document, std::string_view path,
                            std::string name) {
  if (!document) return document.problems();
  if (auto model = model_from_madmax(*document, name)) return *model;
  return path.ends_with(".toml") ? model_from_toml(*document, std::move(name))
                                 : model_from_config(*document, std::move(name));
}

// "models/llama-2-7b.json" → "llama-2-7b"; a config.json is named after its folder.
std::string name_of(const std::string& path) {
  const std::string plain = plain_path(path);
  const std::string folder = file_name(folder_of(plain));
  const std::string stem = stem_of(plain);
  return stem == "config" && !folder.empty() ? folder : stem;
}

Result<Model> load_file(const std::string& path) {
  return from_document(read_document(path), path, name_of(path));
}

}  // namespace

Result<Model> load_model(const std::string& name_or_path) {
  for (const std::string_view ending : {".json", ".toml"}) {
    const std::string path = "models/" + name_or_path + std::string(ending);
    if (const auto text = embedded_file(path)) {
      static Memo<Result<Model>> built_in;
      return built_in.of(name_or_path, [&] {
        const std::string file = "data/" + path;
        return from_document(ending == ".toml" ? parse_toml(*text, file) : parse_json(*text, file),
                             path, name_or_path);
      });
    }
  }
  if (is_folder(name_or_path)) return load_file(in_folder(name_or_path, "config.json"));
  if (name_or_path.ends_with(".json") || name_or_path.ends_with(".toml") ||
      (!name_or_path.empty() && exists(name_or_path))) {
    return load_file(name_or_path);
  }
  const std::vector<std::string> names = model_names();
  const std::string name = lower(name_or_path);  // "Llama-2-7B"
  if (std::binary_search(names.begin(), names.end(), name)) return load_model(name);
  const std::string named = built_in_of(name_or_path, names);  // "meta-llama/Llama-2-7b-hf"
  const bool is_path = name_or_path.find('/') != std::string::npos;
  if (is_path && named.empty()) return load_file(name_or_path);
  const std::string near = named.empty() ? nearest(name_or_path, names) : named;
  return Problem{
      member("model"),
      "unknown model '" + printable(name_or_path) + "'" +
          (near.empty() ? "; `headway list models` shows the built-in ones"
                        : "; did you mean '" + near + "'?") +
          (is_path ? " Of another model of Hugging Face give the path of its config.json" : ""),
      Trouble::unknown};
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const std::string& path : embedded_files("models")) names.push_back(name_of(path));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace headway
