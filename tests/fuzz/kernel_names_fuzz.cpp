#include "document_checks.hpp"
#include "targets.hpp"
#include "trace/recording/kernel_names.hpp"

// Any bytes may be a kernel's name, and a table of names.
void headway::fuzz::kernel_names(std::string_view text) {
  require(own_name(text).size() <= 2 * text.size());  // "::" for a length of one digit
  const KernelKind kind = kind_of_kernel(text);
  require(!(kind.op && kind.looks_alike));
  const auto document = parse_toml(text, "fuzzed.toml");
  if (!document) return check(document.problems());
  const auto names = read_kernel_names(*document);
  if (!names) check(names.problems());
}
