// The methods of training by name (data/methods), and how one is written: "diloco:every=30,bits=8".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "method/method.hpp"

namespace headway {

/// What may be stated of a method, as a number: of a compressor its place, SI units otherwise.
struct MethodField {
  enum class Form : std::uint8_t { whole, number, compressor, zeros, bandwidth, latency };
  std::string_view name, value, what;
  Form form;
  double least, most;
  double (*get)(const Method&);
  void (*set)(Method&, double);
};
std::span<const MethodField> method_fields();
const MethodField* method_field(std::string_view name);

/// A file of data/methods.
struct MethodRow {
  std::string name, title, what;
  Method usual;                     // where nothing is stated
  std::vector<std::string> fields;  // that may be stated of it
  /// What the idealised model of the limits study has besides, which knows no stages and no names
  /// of levels: blocks with losses of their own, and whether replicas meet so outermost alone.
  std::int64_t blocks = 1;
  bool outermost = false;
  double sample_penalty = 1;  // data needed against synchronous training, as published
  std::string penalty;        // where that number comes from, and how far it holds
  std::string source;
};
/// Sorted by name; read once.
const std::vector<MethodRow>& methods();
const MethodRow* method_row(std::string_view name);
/// The table of a document, and what is wrong with it.
Result<MethodRow> read_method(const Document& document, const std::string& name);

/// A method as it is given; "synchronous": none. Problems are of the field `where`.
Result<Method> method_from(std::string_view text, const Where& where);
/// The same written out, with what differs from the usual; of none "synchronous".
std::string text_of(const Method& method);
/// "8 replicas meet every 500 steps, ..."; of so many replicas.
std::string statement_of(const Method& method, std::int64_t replicas);
/// What it says of the data needed for the same loss.
std::string penalty_of(const Method& method);

}  // namespace headway
