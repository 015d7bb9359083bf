// The list: the frameworks that the binary carries, read once.
#include "layout/frameworks/read.hpp"
#include "platform/embedded.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

std::vector<FrameworkFile> embedded_frameworks() {
  std::vector<Document> documents;
  for (const std::string& path : embedded_files("frameworks")) {
    documents.push_back(embedded_document(path).value());
  }
  return read_frameworks(documents).value();  // a test reads them: there is no problem
}

}  // namespace

const std::vector<FrameworkFile>& frameworks() {
  static const std::vector<FrameworkFile> kept = embedded_frameworks();
  return kept;
}

}  // namespace headway
