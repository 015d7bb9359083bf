#include "fit/corpus/contradicted.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>

namespace headway {
namespace {

constexpr std::array<std::string_view, 4> kKind = {"source_key", "accelerator", "framework",
                                                   "recompute"};
constexpr std::array<std::string_view, 3> kSameWords = {"precision", "task", "offload"};
// Both rows must state these: the same, or a rank holds the more, the more or the less it is.
constexpr std::array<std::string_view, 4> kSame = {"accel_memory_gb", "vocab", "pp", "zero_stage"};
constexpr std::array<std::string_view, 6> kMore = {"layers", "d_model", "n_heads",
                                                   "d_ff",   "seq_len", "micro_batch"};
constexpr std::array<std::string_view, 2> kLess = {"tp", "dp"};
// The same, too; rows of one source that do not state it do not differ in it.
constexpr std::array<std::string_view, 10> kAlike = {
    "n_kv_heads", "gated_mlp", "n_experts", "top_k",           "sp",
    "cp",         "vpp",       "ep",        "flash_attention", "compiled"};

// With a peak closer to the limit, gaps of the allocator decide.
constexpr double kWellInside = 0.9;

// Cells in numbers, once: rows are held against many others. What is not stated is no number, which
// no comparison holds with.
template <std::size_t N>
std::array<double, N> numbers(const CorpusRow& row, const std::array<std::string_view, N>& names) {
  std::array<double, N> out;
  for (std::size_t i = 0; i < N; ++i) {
    out[i] = number_cell(row, names[i]).value_or(std::numeric_limits<double>::quiet_NaN());
  }
  return out;
}

// No schedule but GPipe has more than two micro-batches a stage in flight.
double in_flight_of(const CorpusRow& row) {
  if (!row.grad_accum || !row.pp) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(std::min(*row.grad_accum, 2 * *row.pp));
}

struct Holds {
  explicit Holds(const CorpusRow& of)
      : row(&of),
        same(numbers(of, kSame)),
        more(numbers(of, kMore)),
        less(numbers(of, kLess)),
        alike(numbers(of, kAlike)),
        in_flight(in_flight_of(of)) {}

  const CorpusRow* row;
  std::array<double, kSame.size()> same;
  std::array<double, kMore.size()> more;
  std::array<double, kLess.size()> less;
  std::array<double, kAlike.size()> alike;
  double in_flight;
};

std::string kind_of(const CorpusRow& row) {
  std::string out;
  for (const std::string_view name : kKind) out += text_cell(row, name) + '\n';
  return out;
}

bool same_words(const CorpusRow& a, const CorpusRow& b) {
  for (const std::string_view name : kSameWords) {
    if (text_cell(a, name) != text_cell(b, name)) return false;
  }
  const auto stated = [](const StatedColumn& x, const StatedColumn& y) {
    return x.field == y.field && x.number == y.number;
  };
  return a.settings == b.settings &&
         std::equal(a.stated.begin(), a.stated.end(), b.stated.begin(), b.stated.end(), stated);
}

template <std::size_t N, class Compare>
bool all(const std::array<double, N>& a, const std::array<double, N>& b, const Compare& compare) {
  return std::equal(a.begin(), a.end(), b.begin(), compare);
}

bool holds_as_much(const Holds& large, const Holds& small) {
  const auto differ = [](double a, double b) { return a < b || a > b; };
  return all(large.same, small.same, std::equal_to<>()) &&
         all(large.more, small.more, std::greater_equal<>()) &&
         all(large.less, small.less, std::less_equal<>()) &&
         all(large.alike, small.alike, std::not_fn(differ)) && large.in_flight >= small.in_flight &&
         same_words(*large.row, *small.row);
}

bool well_inside(const CorpusRow& row) {
  return !row.out_of_memory() && row.memory_gb_reported && row.accel_memory_gb &&
         *row.memory_gb_reported <= kWellInside * *row.accel_memory_gb;
}

}  // namespace

std::vector<const CorpusRow*> larger_that_ran(const std::vector<CorpusRow>& rows) {
  std::map<std::string, std::vector<Holds>> ran;
  for (const CorpusRow& row : rows) {
    if (well_inside(row)) ran[kind_of(row)].emplace_back(row);
  }
  std::vector<const CorpusRow*> out(rows.size(), nullptr);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].out_of_memory()) continue;
    const auto alike = ran.find(kind_of(rows[i]));
    if (alike == ran.end()) continue;
    const Holds small(rows[i]);
    const auto larger = std::find_if(alike->second.begin(), alike->second.end(),
                                     [&](const Holds& each) { return holds_as_much(each, small); });
    if (larger != alike->second.end()) out[i] = larger->row;
  }
  return out;
}

}  // namespace headway
