#include "study/plan/fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace headway {
namespace {

constexpr std::array<std::string_view, 2> kOffOn = {"off", "on"};
constexpr std::array<std::string_view, 3> kChoices = {"default", "off", "on"};
// Of the ranks from the innermost: numbers as plan_fields() makes them.
constexpr std::array<std::string_view, 2> kOrders = {"tp-cp-dp-pp", "tp-cp-pp-dp"};

template <class T, T Layout::*member>
std::int64_t of(const Layout& layout) {
  return static_cast<std::int64_t>(layout.*member);
}

using Integer = std::int64_t;

bool one_tensor_rank(const Layout& l) {
  return l.tp == 1;
}
bool shares_no_states(const Layout& l) {
  return l.dp * l.cp == 1;
}
bool keeps_weights(const Layout& l) {
  return l.zero < 3;
}
constexpr Integer kAny = 1'000;  // every value of a field
constexpr Integer kNotOn = static_cast<Integer>(Choice::off);

constexpr std::array<PlanField, 20> kFields = {{
    {"dp", PlanAxis::degrees, of<Integer, &Layout::dp>, {}},
    {"tp", PlanAxis::degrees, of<Integer, &Layout::tp>, {}},
    {"cp", PlanAxis::degrees, of<Integer, &Layout::cp>, {}},
    {"pp", PlanAxis::degrees, of<Integer, &Layout::pp>, {}},
    {"order", PlanAxis::order,
     [](const Layout& l) { return Integer{l.order.back() == Dimension::dp}; }, kOrders, false},
    {"ep", PlanAxis::experts, of<Integer, &Layout::ep>, {}},
    {"etp", PlanAxis::experts, of<Integer, &Layout::etp>, {}},
    {"micro-batch", PlanAxis::micro_batch, of<Integer, &Layout::micro_batch>, {}},
    {"sp", PlanAxis::split, of<bool, &Layout::sequence_parallel>, kOffOn, false, one_tensor_rank,
     kAny},
    {"overlap-tensor", PlanAxis::split, of<Choice, &Layout::overlap_tensor>, kChoices, false,
     one_tensor_rank, kNotOn, &OverlapHabits::tensor},
    {"cp-exchange", PlanAxis::split, of<ContextExchange, &Layout::context_exchange>,
     kContextExchangeNames, false},
    {"recompute", PlanAxis::inner, of<Recompute, &Layout::recompute>, kRecomputeNames, false},
    {"recompute-every", PlanAxis::inner, of<Integer, &Layout::recompute_every>, {}},
    {"zero", PlanAxis::inner, of<int, &Layout::zero>, {}, true, shares_no_states, kAny},
    {"reshard", PlanAxis::inner, of<bool, &Layout::reshard_after_forward>, kOffOn, false,
     keeps_weights, kAny},
    {"overlap-gradients", PlanAxis::inner, of<Choice, &Layout::overlap_gradients>, kChoices, false,
     shares_no_states, kNotOn, &OverlapHabits::gradients},
    {"overlap-parameters", PlanAxis::inner, of<Choice, &Layout::overlap_parameters>, kChoices,
     false, shares_no_states, kNotOn, &OverlapHabits::parameters},
    {"schedule", PlanAxis::inner, of<Schedule, &Layout::schedule>, kScheduleNames, false},
    {"vpp", PlanAxis::inner, of<Integer, &Layout::vpp>, {}},
    {"offload",
     PlanAxis::inner,
     [](const Layout& l) {
       return Integer{l.offload_optimizer} + 2 * Integer{l.offload_activations} +
              4 * Integer{l.offload_parameters};
     },
     {},
     false},
}};

constexpr std::array<std::string_view, 3> kOffloads = {"optimizer", "activations", "parameters"};

// A bit for each of what is offloaded.
std::optional<std::int64_t> offload_of(std::string_view text) {
  std::int64_t bits = 0;
  while (text != "none" && !text.empty()) {
    const std::size_t comma = text.find(',');
    const auto at = std::find(kOffloads.begin(), kOffloads.end(), text.substr(0, comma));
    if (at == kOffloads.end()) return std::nullopt;
    bits |= std::int64_t{1} << (at - kOffloads.begin());
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return bits;
}

}  // namespace

std::span<const PlanField> plan_fields() {
  return kFields;
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
  if (field.name == "offload") {
    std::string out;
    for (std::size_t i = 0; i < kOffloads.size(); ++i) {
      if ((field.value(layout) >> i & 1) == 0) continue;
      out += (out.empty() ? "" : ",") + std::string(kOffloads[i]);
    }
    return out.empty() ? "none" : out;
  }
  const std::int64_t value = field.value(layout);
  return field.words.empty() ? std::to_string(value)
                             : std::string(field.words[static_cast<std::size_t>(value)]);
}

std::optional<std::int64_t> value_of(const PlanField& field, std::string_view text) {
  if (field.name == "offload") return offload_of(text);
  const auto word = std::find(field.words.begin(), field.words.end(), text);
  if (word != field.words.end()) return word - field.words.begin();
  if (!field.words.empty()) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

RunRequest layout_fields(const Layout& layout) {
  const Layout usual;
  RunRequest out;
  for (const PlanField& field : plan_fields()) {
    if (field.value(layout) == field.value(usual)) continue;
    if (field.name == "sp" || field.name == "reshard") {
      out.push_back({"no-" + std::string(field.name), "true", "plan"});
    } else {
      out.push_back({std::string(field.name), value_text(field, layout), "plan"});
    }
  }
  // What a run takes otherwise when it is not given.
  if (layout.dp == usual.dp) out.push_back({"dp", "1", "plan"});
  if (layout.zero == usual.zero) out.push_back({"zero", "0", "plan"});
  return out;
}

}  // namespace headway
