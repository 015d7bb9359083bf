// Which programs the options of Megatron-LM's command are read for.
#include "base/text.hpp"
#include "launch/document.hpp"
#include "launch/megatron/megatron.hpp"
#include "platform/files.hpp"
#include "platform/memo.hpp"

namespace headway::launch {
namespace {

// A program that no run of Headway is (data/programs/programs.toml). Its name ends in '/' where it
// is a folder, and in '-' or '_' where it stands for all that begin with it.
struct OtherProgram {
  std::string name, does;
};

const std::vector<OtherProgram>& other_programs() {
  static Memo<std::vector<OtherProgram>> programs;
  return programs.of("programs", [] {
    std::vector<OtherProgram> out;
    const auto document = embedded_document("programs/programs.toml");
    const Node* rows = document ? document->root.find("other") : nullptr;
    if (rows == nullptr || rows->array() == nullptr) return out;
    for (const Node& row : *rows->array()) {
      const Node* names = row.find("names");
      const Node* does = row.find("does");
      if (names == nullptr || names->array() == nullptr || does == nullptr) continue;
      for (const Node& name : *names->array()) {
        out.push_back({scalar_text(name), scalar_text(*does)});
      }
    }
    return out;
  });
}

}  // namespace

std::string program_refused(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view file =
      std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1);
  for (const OtherProgram& other : other_programs()) {
    const char last = other.name.back();
    const bool is = last == '/' ? ("/" + path).find("/" + other.name) != std::string::npos
                    : last == '_' || last == '-' ? file.starts_with(other.name)
                                                 : file == other.name;
    if (is) return other.does;
  }
  return {};
}

}  // namespace headway::launch
