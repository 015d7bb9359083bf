// The fields of a run and one more, which sets what another sets in words of its own.
#define field_rows library_field_rows
#include "layout/field_rows.cpp"
#undef field_rows

namespace headway {
namespace {

constexpr std::array<std::string_view, 2> kMoods = {"calm", "brisk"};

FieldRow mood() {
  return {{"mood", "NAME", "how tokens feel on their way", rows::one_of(kMoods), rows::kDegrees},
          rows::at<&Layout::dispatch>(),
          "mood"};
}

}  // namespace

std::span<const FieldRow> field_rows();
std::span<const FieldRow> field_rows() {
  static const std::vector<FieldRow> out = [] {
    std::vector<FieldRow> all(library_field_rows().begin(), library_field_rows().end());
    all.push_back(mood());
    return all;
  }();
  return out;
}

}  // namespace headway
