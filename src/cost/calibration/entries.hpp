// Entries of data/calibration: constants by name, which may borrow from another entry. Of any
// struct that for_each_constant(struct, visit) walks: visit(name, constant, row), where row.range
// says what the constant may be, and visit.table(name, walk) for those in a table of their own.
#pragma once

#include <string>

#include "base/document/document.hpp"
#include "cost/calibration/constant.hpp"

namespace headway {

/// "must be above 0 and at most 1".
std::string said_of(const AllowedRange& range);

/// Accepts what only people read of an entry: where its numbers come from.
void skip_provenance(Fields& fields);

/// Reads the constants that stand in a table; others keep their values.
struct ConstantReader {
  Fields& fields;

  template <class Row>
  void operator()(const std::string& name, double& constant, const Row& row) const {
    constant = checked(name, fields.number_or(name, constant), row.range);
  }
  template <class Q, class Row>
  void operator()(const std::string& name, Q& constant, const Row& row) const {
    constant = fields.quantity_or(name, constant);
    if (constant.value() > 0) checked(name, constant.value(), row.range);  // else it was refused
  }
  template <class Walk>
  void table(const std::string& name, Walk&& walk) const {
    Fields inner = fields.table(name);
    walk(ConstantReader{inner});
    inner.reject_unknown();
  }

 private:
  double checked(const std::string& name, double value, const AllowedRange& range) const {
    if (!range.holds(value)) fields.fail(name, said_of(range));
    return value;
  }
};

/// The constants of a table upon `base`.
template <class Constants>
Constants constants_in(Fields& fields, Constants base) {
  for_each_constant(base, ConstantReader{fields});
  skip_provenance(fields);
  fields.reject_unknown();
  return base;
}

/// The entry `name` upon those that it borrows from (`from = "other"`). `depth`: how often it was
/// borrowed so far.
template <class Constants>
Constants entry_in(const Document& document, const std::string& name, Problems& problems,
                   int depth = 0) {
  constexpr int kMostBorrowings = 8;
  const Node* node = document.root.find(name);
  if (!node || !node->table() || depth > kMostBorrowings) {
    problems.push_back(
        {document.file, "no entry '" + name + "' to borrow from, or a circle", Trouble::unknown});
    return {};
  }
  Fields fields(*node, document.file, name, problems);
  const std::string from = fields.text_or("from", "");
  return constants_in(fields, from.empty()
                                  ? Constants()
                                  : entry_in<Constants>(document, from, problems, depth + 1));
}

/// entry_in, or its problems.
template <class Constants>
Result<Constants> entry_of(const Document& document, const std::string& name) {
  Problems problems;
  const Constants constants = entry_in<Constants>(document, name, problems);
  if (!problems.empty()) return problems;
  return constants;
}

/// The files of one kind of constants, in data/: those before any fit, and those fitted.
struct EntryFiles {
  const char* estimated;
  const char* fitted;
};
inline constexpr EntryFiles kKernelFiles{"calibration/kernels-estimated.toml",
                                         "calibration/kernels.toml"};
inline constexpr EntryFiles kNetworkFiles{"calibration/networks-estimated.toml",
                                          "calibration/networks.toml"};
inline constexpr EntryFiles kStepFiles{"calibration/step-estimated.toml", "calibration/step.toml"};

/// The estimates under what is fitted, field by field.
Result<Document> embedded_entries(const EntryFiles& files);

}  // namespace headway
