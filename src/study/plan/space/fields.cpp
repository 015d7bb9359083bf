#include "study/plan/space/fields.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "layout/ends.hpp"
#include "run/network_fields.hpp"

namespace headway {
namespace {

constexpr std::array<std::string_view, 2> kOffOn = {"off", "on"};
// Of the ranks from the innermost: of all orders, those that are searched.
constexpr std::array<std::string_view, 2> kOrders = {"tp-cp-dp-pp", "tp-cp-pp-dp"};

using Integer = std::int64_t;

bool one_tensor_rank(const Layout& l) {
  return l.tp == 1;
}
bool no_pipeline(const Layout& l) {
  return l.pp == 1;
}
bool no_exchange(const Layout& l) {
  return l.ep == 1;
}
bool exchanges_openly(const Layout& l) {
  return l.overlap_experts != Choice::on;
}
bool shares_no_states(const Layout& l) {
  return l.dp * l.cp == 1;
}
bool keeps_weights(const Layout& l) {
  return l.zero < 3;
}
constexpr Integer kAny = 1'000;  // every value of a field
constexpr Integer kNotOn = static_cast<Integer>(Choice::off);

// What the planner knows of a field besides its row.
struct Searched {
  std::string_view name;
  PlanAxis axis;
  bool (*idle)(const Layout&) = nullptr;
  Integer idle_most = 0;
  bool OverlapHabits::*habit = nullptr;
};

// In the order in which layouts are described.
constexpr Searched kSearched[] = {
    {"dp", PlanAxis::degrees},
    {"tp", PlanAxis::degrees},
    {"cp", PlanAxis::degrees},
    {"pp", PlanAxis::degrees},
    {"shard", PlanAxis::degrees},
    {"split-vocabulary", PlanAxis::degrees, no_pipeline, kAny},
    {"order", PlanAxis::order},
    {"ep", PlanAxis::experts},
    {"etp", PlanAxis::experts},
    {"dispatch", PlanAxis::experts, no_exchange, kAny},
    {"micro-batch", PlanAxis::micro_batch},
    {"sp", PlanAxis::split, one_tensor_rank, kAny},
    {"overlap-tensor", PlanAxis::split, one_tensor_rank, kNotOn, &OverlapHabits::tensor},
    {"cp-exchange", PlanAxis::split},
    {"recompute", PlanAxis::inner},
    {"recompute-every", PlanAxis::inner},
    {"zero", PlanAxis::inner, shares_no_states, kAny},
    {"reshard", PlanAxis::inner, keeps_weights, kAny},
    {"overlap-gradients", PlanAxis::inner, shares_no_states, kNotOn, &OverlapHabits::gradients},
    {"overlap-parameters", PlanAxis::inner, shares_no_states, kNotOn, &OverlapHabits::parameters},
    {"overlap-experts", PlanAxis::inner, exchanges_openly, kNotOn},
    {"schedule", PlanAxis::inner},
    {"vpp", PlanAxis::inner},
    {"embedding-slots", PlanAxis::inner, no_pipeline, kAny},
    {"head-slots", PlanAxis::inner, no_pipeline, kAny},
    {"offload", PlanAxis::inner},
};

std::vector<PlanField> searched_fields() {
  std::vector<PlanField> out;
  for (const Searched& searched : kSearched) {
    const FieldRow* row = field_row(searched.name);
    if (row == nullptr) row = field_row("no-" + std::string(searched.name));
    PlanField field{searched.name,
                    row,
                    searched.axis,
                    std::get<FieldAccess<Layout>>(row->access).get,
                    {},
                    searched.idle,
                    searched.idle_most,
                    searched.habit};
    if (row->field.form.kind == FieldForm::Kind::name) field.words = row->field.form.names;
    if (row->field.form.kind == FieldForm::Kind::flag) field.words = kOffOn;
    if (searched.axis == PlanAxis::order) {
      field.number = [](const Layout& l) { return l.order.back() == Dimension::dp ? 1.0 : 0.0; };
      field.words = kOrders;
    }
    out.push_back(field);
  }
  return out;
}

}  // namespace

std::span<const PlanField> plan_fields() {
  static const std::vector<PlanField> out = searched_fields();
  return out;
}

const PlanField* plan_field(std::string_view name) {
  const auto fields = plan_fields();
  const auto at = std::find_if(fields.begin(), fields.end(),
                               [&](const PlanField& field) { return field.name == name; });
  return at == fields.end() ? nullptr : &*at;
}

PlanLimit limit_to(const PlanField& field, std::int64_t value, Framework framework) {
  PlanLimit out{&field, value};
  if (field.habit != nullptr && value != static_cast<std::int64_t>(Choice::framework)) {
    const bool on = value == static_cast<std::int64_t>(Choice::on);
    out.or_default = habits(framework).overlap.*field.habit == on;
  }
  return out;
}

std::string value_text(const PlanField& field, const Layout& layout) {
  const double number = field.number(layout);
  if (field.row->field.form.kind == FieldForm::Kind::whole) {
    return std::to_string(field.value(layout));  // 0, too, where it stands for all
  }
  return field.words.empty() ? text_of(field.row->field.form, number)
                             : std::string(field.words[static_cast<std::size_t>(number)]);
}

std::optional<std::int64_t> value_of(const PlanField& field, std::string_view text) {
  if (field.words.empty()) {
    const auto number = number_of(field.row->field.form, text);
    return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
  }
  const auto word = std::find(field.words.begin(), field.words.end(), text);
  if (word == field.words.end()) return std::nullopt;
  return word - field.words.begin();
}

RunRequest layout_fields(const Model& model, const Job& job, const Layout& layout) {
  const Layout usual;
  const bool spread =
      EndSlots{layout.embedding_slots, layout.head_slots} == usual_ends(model, job, layout);
  RunRequest out;
  for (const PlanField& field : plan_fields()) {
    const bool of_ends = field.name == "embedding-slots" || field.name == "head-slots";
    if (of_ends ? spread : field.value(layout) == field.value(usual)) continue;
    if (field.name == "sp" || field.name == "reshard") {
      out.push_back({"no-" + std::string(field.name), "true", "plan"});
    } else {
      out.push_back({std::string(field.name), value_text(field, layout), "plan"});
    }
  }
  for (const std::string_view name : fields_of_networks()) {
    const FieldRow& row = *field_row(name);
    const auto& access = std::get<FieldAccess<Layout>>(row.access);
    if (access.get(layout) == access.get(usual)) continue;
    out.push_back({std::string(name), text_of(row.field.form, access.get(layout)), "plan"});
  }
  // What a run takes otherwise when it is not given.
  if (layout.dp == usual.dp) out.push_back({"dp", "1", "plan"});
  if (layout.zero == usual.zero) out.push_back({"zero", "0", "plan"});
  return out;
}

}  // namespace headway
