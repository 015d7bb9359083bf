// What the rows of the table of fields are written with: forms, and the members of a run. Only the
// table includes this.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include "layout/fields.hpp"

namespace headway::rows {

inline constexpr std::string_view kRun = kFieldGroups[0], kDegrees = kFieldGroups[1],
                                  kMemory = kFieldGroups[2], kMore = kFieldGroups[3];

inline constexpr double kMostCount = 1e12;

// What holds a member: a layout its parts'.
template <class Part, class Value>
std::conditional_t<std::is_base_of_v<Part, Layout>, Layout, Part> part_of(Value Part::*);
template <auto member>
using PartOf = decltype(part_of(member));

template <auto member>
constexpr FieldAccess<PartOf<member>> at() {
  using Part = PartOf<member>;
  return {
      [](const Part& part) { return static_cast<double>(part.*member); },
      [](Part& part, double number) {
        using Value = std::remove_reference_t<decltype(part.*member)>;
        part.*member = static_cast<Value>(
            static_cast<std::conditional_t<std::is_enum_v<Value>, std::uint8_t, Value>>(number));
      }};
}

inline FieldForm whole(double least = 1, double most = kMostCount) {
  return {.kind = FieldForm::Kind::whole, .least = least, .most = most};
}
// A whole number from 1 on; 0 where none is given.
inline FieldForm whole_or_none() {
  return {.kind = FieldForm::Kind::whole, .least = 1, .most = kMostCount, .none = 0};
}
// Bytes with their unit; 0 where none are given.
inline FieldForm size_or_none() {
  return {.kind = FieldForm::Kind::bytes, .least = 1, .most = 1e15, .none = 0};
}
inline FieldForm one_of(std::span<const std::string_view> names) {
  return {.kind = FieldForm::Kind::name, .names = names};
}
inline constexpr OtherName kOtherSchedules[] = {
    {kInterleaved, static_cast<std::size_t>(Schedule::one_f_one_b)},
    {kZeroBubbleH2, static_cast<std::size_t>(Schedule::zero_bubble_h2)}};
inline FieldForm schedule() {
  return {.kind = FieldForm::Kind::name, .names = kScheduleNames, .also = kOtherSchedules};
}
// The same of names of which the first leaves the choice to the framework.
inline FieldForm left_open(std::span<const std::string_view> names) {
  return {.kind = FieldForm::Kind::name, .names = names, .none = 0};
}
inline FieldForm flag(bool sets = true) {
  return {.kind = FieldForm::Kind::flag, .sets = sets};
}

// Every order of the dimensions, "tp-cp-dp-pp" first.
struct Orders {
  std::array<std::array<Dimension, 4>, 24> orders;
  std::array<std::string, 24> texts;
  std::array<std::string_view, 24> names;

  Orders() {
    std::array<Dimension, 4> order = {Dimension::tp, Dimension::cp, Dimension::dp, Dimension::pp};
    for (std::size_t i = 0; i < orders.size(); ++i) {
      orders[i] = order;
      for (const Dimension dimension : order) {
        texts[i] += (texts[i].empty() ? "" : "-") +
                    std::string(kDimensionNames[static_cast<std::size_t>(dimension)]);
      }
      names[i] = texts[i];
      std::next_permutation(order.begin(), order.end());
    }
  }
};
inline const Orders& orders() {
  static const Orders out;
  return out;
}
inline constexpr FieldAccess<Layout> kOrder = {
    [](const Layout& l) {
      const auto& all = orders().orders;
      return static_cast<double>(std::find(all.begin(), all.end(), l.order) - all.begin());
    },
    [](Layout& l, double number) { l.order = orders().orders[static_cast<std::size_t>(number)]; }};

inline constexpr std::array<std::string_view, 3> kOffloads = {"optimizer", "activations",
                                                              "parameters"};
inline constexpr FieldAccess<Layout> kOffload = {
    [](const Layout& l) {
      return 1.0 * l.offload_optimizer + 2.0 * l.offload_activations + 4.0 * l.offload_parameters;
    },
    [](Layout& l, double number) {
      const auto bits = static_cast<unsigned>(number);
      l.offload_optimizer = (bits & 1) != 0;
      l.offload_activations = (bits & 2) != 0;
      l.offload_parameters = (bits & 4) != 0;
    }};

// All that can run again: every piece but `other`.
inline constexpr std::span<const std::string_view> kPieces = std::span(kPieceNames).subspan(1);
inline constexpr FieldAccess<Layout> kRecomputedPieces = {
    [](const Layout& l) { return static_cast<double>(l.recompute_pieces >> 1); },
    [](Layout& l, double number) {
      l.recompute_pieces = static_cast<std::uint8_t>(static_cast<unsigned>(number) << 1);
    }};

template <ModuleClass which>
inline constexpr FieldAccess<Layout> kStrategy = {
    [](const Layout& l) { return static_cast<double>(l.of(which)); },
    [](Layout& l, double number) {
      l.classes[static_cast<std::size_t>(which)] =
          static_cast<Strategy>(static_cast<std::uint8_t>(number));
    }};
template <auto member>
inline constexpr FieldAccess<Layout> kOfTables = {
    [](const Layout& l) { return static_cast<double>(l.tables.*member); },
    [](Layout& l, double number) {
      using Value = std::remove_reference_t<decltype(l.tables.*member)>;
      l.tables.*member = static_cast<Value>(
          static_cast<std::conditional_t<std::is_enum_v<Value>, std::uint8_t, Value>>(number));
    }};
/// The places of tables, as flags and documents name them.
inline std::span<const std::string_view> table_places() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < kNamedTables; ++i) out.push_back(std::to_string(i));
    return out;
  }();
  static const std::vector<std::string_view> names(texts.begin(), texts.end());
  return names;
}
inline FieldForm tables_by_place() {
  return {.kind = FieldForm::Kind::names, .names = table_places(), .lists = false, .none = 0};
}
template <TableScheme scheme>
inline constexpr FieldAccess<Layout> kNamed = {
    [](const Layout& l) {
      return static_cast<double>(l.tables.named[static_cast<std::size_t>(scheme)]);
    },
    [](Layout& l, double number) {
      l.tables.named[static_cast<std::size_t>(scheme)] = static_cast<std::uint64_t>(number);
    }};
inline FieldForm share() {
  return {.kind = FieldForm::Kind::number, .least = 0, .most = 1};
}

inline constexpr FieldAccess<Job> kBucketSize = {
    [](const Job& job) { return job.bucket_size.value(); },
    [](Job& job, double number) { job.bucket_size = Bytes(number); }};

inline constexpr FieldAccess<Job> kRecipe = {
    [](const Job& job) { return static_cast<double>(job.recipe - recipes().data()); },
    [](Job& job, double number) { job.recipe = &recipes()[static_cast<std::size_t>(number)]; }};
inline std::span<const std::string_view> recipe_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const Recipe& recipe : recipes()) out.push_back(recipe.name);
    return out;
  }();
  return names;
}

inline constexpr std::array<std::string_view, 2> kConventionNames = {"full", "causal"};
inline constexpr FieldAccess<AttentionFlops> kConvention = {
    [](const AttentionFlops& convention) { return static_cast<double>(convention); },
    [](AttentionFlops& convention, double number) {
      convention = static_cast<AttentionFlops>(number);
    }};

}  // namespace headway::rows
