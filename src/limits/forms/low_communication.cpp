#include "limits/forms/low_communication.hpp"

#include <algorithm>
#include <cmath>

#include "base/formatted.hpp"
#include "base/text.hpp"
#include "limits/machine/read.hpp"
#include "method/methods.hpp"

namespace headway::limits {
namespace {

constexpr double kMostSteps = 1e9, kMostCompression = 1e9, kMostPenalty = 1e9;
constexpr std::int64_t kMostParts = 1'000'000;
struct Method {
  Relaxation relaxation;
  bool outermost_only = false;
};

// Of products that a layer of the study has two: d x 4d.
constexpr double kWide = 4;

// [LIMIT-27] Bytes of gradients, as wide as the weights, over those sent, there and back alike. A
// sparse gradient has a value and a place of 4 bytes each, both ways (the sum made sparse again,
// Shi et al. 2019, 1901.04359). Factors of rank r of a matrix a x b: 4 r (a + b) bytes of it; at
// the narrowest model of the curve, wider ones send less.
double compression_of(const headway::Method& method, const Setting& setting) {
  const double wide = bytes_per_element(setting.precision);
  const Compression& by = method.compression;
  const double d = static_cast<double>(setting.first_d_model);
  // To k neighbours k N, where an all-reduce sends 2 N.
  if (method.meeting == Meeting::neighbours) {
    return std::max(1.0, 2 / static_cast<double>(method.neighbours));
  }
  if (by.by == Compressor::top_k) return std::max(1.0, wide / (8 * by.share));
  if (by.by == Compressor::masked) return 1 / by.share;
  if (by.by == Compressor::powersgd) {
    const double factors = 4 * static_cast<double>(by.rank) * (d + kWide * d);
    return std::max(1.0, d * kWide * d * wide / factors);
  }
  const double bits = row_of(by.by).bits;
  return bits > 0 ? std::max(1.0, 8 * wide / bits) : 1;
}

// Why the idealised model does not know a method; empty: it does.
std::string not_idealised(const headway::Method& usual) {
  if (usual.losses == Losses::of_pairs) return "goes back through layers twice";
  if (usual.parts > 1) return "trains one part of the layers at a time";
  if (usual.sparsity.density < 1) return "has products of sparse matrices";
  if (usual.selected < 1) return "is of attention over several ranks";
  return {};
}

Result<Method> method_named(const std::string& name, const Setting& setting) {
  const MethodRow* row = method_row(name);
  if (row == nullptr) {
    const std::vector<std::string> names = relaxation_names();
    return Problem{FieldName("relax"),
                   "'" + printable(name) + "' is not a known method" + suggestion(name, names) +
                       " (known: " + join(names, ", ") + ")",
                   Trouble::unknown};
  }
  const headway::Method& usual = row->usual;
  if (const std::string why = not_idealised(usual); !why.empty()) {
    return Problem{FieldName("relax"),
                   name + " " + why + ", which the idealised model does not know; known: " +
                       join(relaxation_names(), ", "),
                   Trouble::unsupported};
  }
  Method out;
  Relaxation& of = out.relaxation;
  of.method = row->title;
  of.name = row->name;
  if (usual.meeting == Meeting::seldom) of.sync_every = static_cast<double>(usual.every);
  if (usual.meeting == Meeting::never) of.sync_every = kMostSteps;
  of.asynchronous = usual.meeting == Meeting::late || usual.delay > 0;
  of.compression = compression_of(usual, setting);
  of.blocks = row->blocks;
  of.submodels = usual.submodels;
  of.forward_only = usual.forward_only;
  of.sample_penalty = row->sample_penalty;
  of.penalty_statement = row->penalty;
  out.outermost_only = row->outermost;
  return out;
}

std::string number_text(double value) {
  return formatted("%.6g", value);
}

// Takes what is wished where it lies between 1 and `most`.
template <class T>
void take(const std::optional<T>& wish, const char* what, T most, T& value, Problems& problems) {
  if (!wish) return;
  if (*wish >= 1 && *wish <= most) {
    value = *wish;
    return;
  }
  problems.push_back(
      {FieldName(what), "must be from 1 to " + number_text(static_cast<double>(most))});
}

}  // namespace

std::vector<std::string> relaxation_names() {
  std::vector<std::string> out;
  for (const MethodRow& row : methods()) {
    if (not_idealised(row.usual).empty()) out.push_back(row.name);
  }
  return out;
}

Result<Setting> relaxed(const Setting& setting, const RelaxationWishes& wishes) {
  Setting out = setting;
  Problems problems;
  const std::vector<Level>& levels = setting.machine.levels;
  Relaxation& of = out.relaxation;
  if (!wishes.method.empty()) {
    Result<Method> method = method_named(wishes.method, setting);
    if (!method) return method.problems();
    of = method->relaxation;
    if (method->outermost_only) of.loose_level = levels.size() - 1;
  } else {
    of = {};
    of.method = "as stated";
    of.penalty_statement = "no published penalty at this scale: an upper bound";
  }
  take(wishes.sync_every, "sync_every", kMostSteps, of.sync_every, problems);
  take(wishes.compression, "compression", kMostCompression, of.compression, problems);
  take(wishes.blocks, "blocks", kMostParts, of.blocks, problems);
  take(wishes.submodels, "submodels", kMostParts, of.submodels, problems);
  take(wishes.sample_penalty, "sample_penalty", kMostPenalty, of.sample_penalty, problems);
  if (wishes.sample_penalty) of.penalty_statement = "the user's";
  of.altered = wishes.compression || wishes.blocks || wishes.submodels || wishes.loose_level;
  if (wishes.loose_level) {
    std::vector<std::string> names;
    for (const Level& level : levels) names.push_back(level.name);
    const auto at = std::find(names.begin(), names.end(), *wishes.loose_level);
    if (at == names.end()) {
      problems.push_back({FieldName("loose_level"),
                          "'" + printable(*wishes.loose_level) +
                              "' is not a level of this machine" +
                              suggestion(*wishes.loose_level, names),
                          Trouble::unknown});
    }
    of.loose_level = static_cast<std::size_t>(at - names.begin());
  }
  if (of.submodels > 1 && (of.submodels & (of.submodels - 1)) != 0) {
    problems.push_back({FieldName("submodels"), "must be a power of two, as clusters are"});
  }
  if (of.submodels > 1 && (of.blocks > 1 || of.forward_only || of.compression > 1)) {
    problems.push_back({FieldName("submodels"),
                        "cannot be joined with blocks, compression or forward passes "
                        "only"});
  }
  out.name = setting.name + ", " + (wishes.method.empty() ? "relaxed" : wishes.method);
  if (!problems.empty()) return problems;
  return out;
}

RelaxationWishes read_relaxation(Fields fields) {
  RelaxationWishes out;
  out.method = fields.text_or("method", "");
  const auto number = [&](const char* key, std::optional<double>& value, double most) {
    if (fields.has(key)) {
      value = number_between(fields, key, 1, 1, most);
    } else {
      fields.number_or(key, 1);
    }
  };
  number("sync_every", out.sync_every, kMostSteps);
  number("compression", out.compression, kMostCompression);
  number("sample_penalty", out.sample_penalty, kMostPenalty);
  if (const auto blocks = fields.count_or("blocks", 0)) out.blocks = blocks;
  if (const auto submodels = fields.count_or("submodels", 0)) out.submodels = submodels;
  const std::string level = fields.text_or("loose_level", "");
  if (!level.empty()) out.loose_level = level;
  fields.reject_unknown();
  return out;
}

std::string statement_of(const Setting& setting) {
  const Relaxation& of = setting.relaxation;
  if (of.method.empty()) return "synchronous training";
  std::string out = of.method;
  if (of.sync_every > 1) {
    out += ", replicas meet every " + number_text(of.sync_every) + " steps";
    if (of.loose_level > 0) {
      out += " at level " + setting.machine.levels[of.loose_level].name + " and further out";
    }
  }
  if (of.compression > 1) out += ", gradients 1/" + number_text(of.compression);
  if (of.asynchronous) out += ", communication of replicas off the critical path";
  if (of.blocks > 1) out += ", " + std::to_string(of.blocks) + " blocks with losses of their own";
  if (of.submodels > 1) out += ", " + std::to_string(of.submodels) + " submodels";
  if (of.forward_only) out += ", no backward pass";
  return out + "; data needed x " + number_text(of.sample_penalty) + " (" + of.penalty_statement +
         ")";
}

}  // namespace headway::limits
