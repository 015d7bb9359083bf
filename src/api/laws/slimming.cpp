// scale slimming: training and inference on less. scale subnetworks: independent subnetworks on
// quadratics.
#include <cmath>
#include <memory>

#include "api/options.hpp"
#include "platform/files.hpp"
#include "report/laws/slim.hpp"

namespace headway {
namespace {

struct SlimmingRequest : SlimGiven {
  std::string run_file;
  bool json = false;
};

CommandOutput run_slimming(const SlimmingRequest& request) {
  const auto fields = read_run_request(request.run_file, request.fields);
  if (!fields) return {.problems = fields.problems()};
  SlimGiven given = request;
  given.fields = *fields;
  const auto answer = answer_slimming(given);
  if (!answer) return {.problems = answer.problems()};
  return {.text = request.json ? slim_json(*answer) : slim_text(*answer)};
}

struct SubnetworksRequest {
  std::string file;
  std::optional<Document> functions;
  bool json = false;
};

constexpr std::size_t kMostVariables = 200;

std::optional<double> number_of(const Node& node) {
  if (const auto* real = std::get_if<double>(&node.value)) {
    return std::isfinite(*real) && std::abs(*real) <= 1e12 ? std::optional(*real) : std::nullopt;
  }
  if (const auto* whole = std::get_if<std::int64_t>(&node.value)) {
    return static_cast<double>(*whole);
  }
  return std::nullopt;
}

// The numbers of a list of `size`; a problem where it is none.
std::optional<Vector> numbers_of(const Node* node, std::size_t size) {
  if (node == nullptr || node->array() == nullptr || node->array()->size() != size) {
    return std::nullopt;
  }
  Vector out;
  for (const Node& each : *node->array()) {
    const auto value = number_of(each);
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  return out;
}

Result<std::vector<Quadratic>> read_functions(const Document& document) {
  const Node* list = document.root.find("function");
  const Where head(document.file, 1, FieldName("function"));
  if (list == nullptr || list->array() == nullptr || list->array()->empty()) {
    return Problem{head, "must list the functions, each with its matrix and offset",
                   Trouble::missing};
  }
  const std::size_t n = list->array()->size();
  Problems problems;
  for (const auto& [name, node] : *document.root.table()) {
    if (name != "function") {
      problems.push_back({Where(document.file, node.line, FieldName(name)),
                          "is not known; known: function", Trouble::unknown});
    }
  }
  if (n > kMostVariables) return Problem{head, "lists more than 200"};
  std::vector<Quadratic> out;
  for (const Node& each : *list->array()) {
    const Where at(document.file, each.line, FieldName("function"));
    const Node* rows = each.find("matrix");
    const auto offset = numbers_of(each.find("offset"), n);
    Quadratic one{SquareMatrix(n), offset.value_or(Vector(n))};
    bool whole = rows != nullptr && rows->array() != nullptr && rows->array()->size() == n;
    for (std::size_t i = 0; whole && i < n; ++i) {
      const auto row = numbers_of(&(*rows->array())[i], n);
      whole = row.has_value();
      for (std::size_t j = 0; whole && j < n; ++j) one.matrix.at(i, j) = (*row)[j];
    }
    if (!whole || !offset) {
      problems.push_back({at,
                          "must have a matrix of as many rows and columns as there are "
                          "functions, and an offset as long"});
      continue;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (!(one.matrix.at(i, i) > 0)) {
        problems.push_back({at, "must have a diagonal above zero"});
        break;
      }
    }
    for (std::size_t i = 0; i < n * n; ++i) {
      if (one.matrix.at(i / n, i % n) != one.matrix.at(i % n, i / n)) {
        problems.push_back({at, "must have a symmetric matrix"});
        break;
      }
    }
    out.push_back(std::move(one));
  }
  if (!problems.empty()) return problems;
  const Quadratic mean = mean_of(out);
  if (solved(mean.matrix, mean.offset).empty()) {
    return Problem{head, "have a mean that is singular: it is least at no one place"};
  }
  return out;
}

CommandOutput run_subnetworks(const SubnetworksRequest& request) {
  if (!request.functions && request.file.empty()) {
    return {.problems = {{FieldName("functions"), "is missing: a file of [[function]] tables",
                          Trouble::missing}}};
  }
  const auto document =
      request.functions ? Result<Document>(*request.functions) : read_document(request.file);
  if (!document) return {.problems = document.problems()};
  const auto functions = read_functions(*document);
  if (!functions) return {.problems = functions.problems()};
  const SubnetworkAnswer answer = answer_subnetworks(*functions);
  return {.text = request.json ? subnetworks_json(answer) : subnetworks_text(answer)};
}

}  // namespace

Command scale_slimming_command() {
  auto request = std::make_shared<SlimmingRequest>();
  Command out{.name = "slimming",
              .help = "training and inference on fewer samples, tokens, channels and layers",
              .examples = {"headway scale slimming --samples 0.7 --tokens-kept 0.6 --width 0.75 "
                           "\\\n    --model resnet-50 --cluster dgx-a100-80gb --gpus 8 "
                           "--global-batch 2048"},
              .run = running(request, run_slimming)};
  out.options = {
      operand("RUN.toml", kOverrides, &request->run_file),
      {.name = "samples",
       .value = "X",
       .help = "share of the samples that are trained on",
       .target = &request->samples},
      {.name = "tokens-kept",
       .value = "X",
       .help = "share of the tokens or pixels of a sample",
       .target = &request->tokens},
      {.name = "width",
       .value = "X",
       .help = "share of the channels or the hidden width",
       .target = &request->width},
      {.name = "depth", .value = "X", .help = "share of the layers", .target = &request->depth},
      {.name = "first-tokens",
       .value = "X",
       .help = "a curriculum of lengths: share of the tokens that it begins with",
       .target = &request->first_tokens},
      {.name = "growing",
       .value = "X",
       .help = "share of training over which it grows to all; default: 1",
       .target = &request->growing},
      {.name = "pj-a-bit",
       .value = "X",
       .help = "energy of a bit of memory read or written; default: 5",
       .target = &request->pj_a_bit}};
  add_fields(out.options, request->fields, run_fields(), {"model", "cluster", "global-batch"});
  return out;
}

Command scale_subnetworks_command() {
  auto request = std::make_shared<SubnetworksRequest>();
  Command out{.name = "subnetworks",
              .help = "independent subnetworks on quadratics: where they end, and the bias",
              .examples = {"headway scale subnetworks examples/laws/quadratics.toml"},
              .run = running(request, run_subnetworks)};
  out.options = {
      operand("FUNCTIONS.toml", "[[function]] tables of matrix and offset", &request->file),
      {.name = "functions",
       .help = "the functions in place: {function: [{matrix, offset}]}",
       .target = &request->functions,
       .door = Door::document}};
  return out;
}

}  // namespace headway
