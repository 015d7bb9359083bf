#include "trace/recording/kernel_names.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/text.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

constexpr std::size_t kLongestName = 1000;  // what follows says no more than what stands before

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// "_ZN4dpsk2ep8dispatchILb0EEEvv" -> "dpsk::ep::dispatch": the names with their lengths before them
// (Itanium C++ ABI, 5.1), as far as they go.
std::string unmangled(std::string_view name) {
  std::string out;
  std::size_t at = 2;
  while (at < name.size() && !is_digit(name[at]) && at < 5) ++at;  // "N", "L", "NK"
  while (at < name.size() && is_digit(name[at])) {
    std::size_t length = 0;
    while (at < name.size() && is_digit(name[at]) && length < kLongestName) {
      length = 10 * length + static_cast<std::size_t>(name[at++] - '0');
    }
    if (length == 0 || length > name.size() - at) break;
    out += (out.empty() ? "" : "::") + std::string(name.substr(at, length));
    at += length;
  }
  return out;
}

// Where `part` stands in `name` at the beginning of a word.
std::size_t word_beginning_with(std::string_view part, std::string_view name) {
  for (std::size_t at = name.find(part); at != std::string_view::npos;
       at = name.find(part, at + 1)) {
    if (at == 0 || !(is_letter(name[at - 1]) || is_digit(name[at - 1]))) return at;
  }
  return std::string_view::npos;
}

std::string small_letters(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

std::optional<Operation> operation_called(std::string_view name) {
  for (const OperationRow& row : kOperations) {
    if (row.name == name) return row.op;
  }
  return std::nullopt;
}

const KernelNames& carried_names() {
  static const KernelNames kept =  // a test reads it: there is no problem
      read_kernel_names(embedded_document("traces/kernels.toml").value()).value();
  return kept;
}

}  // namespace

Result<KernelNames> read_kernel_names(const Document& document) {
  KernelNames out;
  Problems problems;
  Fields root(document, problems);
  for (const std::string& word : root.texts_or_empty("look_alike")) {
    out.look_alike.push_back(small_letters(word));
  }
  for (Fields& library : root.tables("library")) {
    for (const char* said : {"name", "source", "date"}) {
      if (library.text(said).empty()) library.fail(said, "must not be empty");
    }
    Fields kernels = library.table("kernels", true);
    for (const std::string& part : kernels.keys()) {
      const std::string is = kernels.text(part);
      const auto op = operation_called(is);
      if (!op && is != "named" && is != "none") {
        kernels.fail(part, "'" + printable(is) + "' is no operation, 'named' or 'none'");
      }
      out.rows.push_back({part, op, is == "named"});
    }
    library.reject_unknown();
  }
  root.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

std::string own_name(std::string_view kernel) {
  kernel = kernel.substr(0, kLongestName);
  if (kernel.starts_with("_Z")) return unmangled(kernel);
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  std::string name(kernel);
  for (std::size_t at = name.find(kAnonymous); at != std::string::npos;
       at = name.find(kAnonymous, at)) {
    name.erase(at, kAnonymous.size());
  }
  name.resize(std::min(name.find_first_of("<("), name.size()));
  const std::size_t result = name.rfind(' ');  // "void"
  return result == std::string::npos ? name : name.substr(result + 1);
}

KernelKind kind_of_kernel(std::string_view kernel) {
  const KernelNames& known = carried_names();
  const std::string name = own_name(kernel);
  for (const KernelName& row : known.rows) {
    const std::size_t at = word_beginning_with(row.part, name);
    if (at == std::string::npos) continue;
    if (!row.named) return {row.op, false};
    return {operation_from(std::string_view(name).substr(at)).value_or(Operation::other), false};
  }
  const std::string letters = small_letters(name);
  const auto speaks_of = [&](const std::string& word) {
    return letters.find(word) != std::string::npos;
  };
  return {std::nullopt, std::any_of(known.look_alike.begin(), known.look_alike.end(), speaks_of)};
}

std::optional<Operation> SeenKernels::op_of(std::string_view kernel) {
  constexpr std::size_t kMostNames = 10'000;  // some traces are not what they seem
  const std::string key(kernel.substr(0, kLongestName));
  const auto known = names_.find(key);
  if (known != names_.end()) {
    ++known->second.count;
    return known->second.kind.op;
  }
  const KernelKind kind = kind_of_kernel(key);
  if (names_.size() < kMostNames) names_.emplace(key, Seen{kind, 1});
  return kind.op;
}

void SeenKernels::note(Recording& recording) const {
  std::map<std::string, std::int64_t> unknown;  // in the order of their names
  for (const auto& [name, seen] : names_) {
    if (seen.kind.looks_alike) unknown[own_name(name)] += seen.count;
  }
  constexpr std::size_t kMostNoted = 8;
  std::size_t noted = 0;
  for (const auto& [name, count] : unknown) {
    const std::string which =
        ++noted <= kMostNoted ? "kernel '" + printable(name, 80) + "'" : "another kernel";
    leave_unsaid(recording,
                 which + " looks like communication and is not known: counted as computation",
                 count);
  }
}

}  // namespace headway
