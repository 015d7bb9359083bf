#include "platform/output.hpp"

#include <filesystem>
#include <fstream>

#include "base/document/document.hpp"
#include "base/text.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

// Where a file is written to before it takes its place.
std::string draft_of(const std::string& path) {
  std::error_code ignored;
  const auto kind = fs::status(path, ignored).type();
  const bool special = kind != fs::file_type::regular && kind != fs::file_type::not_found &&
                       kind != fs::file_type::directory;
  return special ? path : path + ".part";
}

bool write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return static_cast<bool>(file);
}

}  // namespace

Problems write_files(const std::vector<OutputFile>& files, const std::string& folder) {
  std::vector<std::string> drafts;
  Problems problems;
  std::error_code status;
  const auto cannot = [&](const OutputFile& file) {
    problems.push_back({printable(file.path), "cannot be written", Trouble::unreadable});
  };
  const bool made = !folder.empty() && fs::create_directory(folder, status);
  for (const OutputFile& file : files) {
    const std::string draft = draft_of(file.path);
    if (draft != file.path) drafts.push_back(draft);
    if (fs::is_directory(file.path, status) || !write(draft, file.text)) cannot(file);
  }
  if (problems.empty()) {
    for (const OutputFile& file : files) {
      const std::string draft = draft_of(file.path);
      if (draft != file.path && std::rename(draft.c_str(), file.path.c_str()) != 0) cannot(file);
    }
  }
  if (!problems.empty()) {
    for (const std::string& draft : drafts) std::remove(draft.c_str());
    if (made) fs::remove(folder, status);
  }
  return problems;
}

Result<OutputFile> page_to_renew(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return Problem{FieldName("report"),
                   "there is no page " + printable(path) +
                       " to renew: run it in a checkout of Headway, whose pages are in "
                       "docs, or name the folder that holds this one",
                   Trouble::missing};
  }
  auto text = read_file(path);
  if (!text) return text.problems();
  return OutputFile{path, std::move(text).value()};
}

}  // namespace headway
