#include "study/plan/space/offers.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "layout/frameworks/read.hpp"

namespace headway {
namespace {

constexpr std::array<std::string_view, 3> kOverlaps = {"nothing", "gradients", "both"};
constexpr std::array<std::string_view, 2> kActivationOffloads = {"never", "with-recompute"};

// The place of `text` among `names`; the first where it is none of them, which is a problem.
template <class Enum>
Enum one_of(Fields& fields, std::string_view key, const std::string& text,
            std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<Enum>(found - names.begin());
  const std::vector<std::string> known(names.begin(), names.end());
  fields.fail(key, "'" + printable(text) + "' is not known; legal: " + join(known, ", "));
  return Enum{};
}

template <class Enum>
std::vector<Enum> each_of(Fields& fields, std::string_view key,
                          std::span<const std::string_view> names) {
  std::vector<Enum> out;
  for (const std::string& text : fields.texts_or_empty(key)) {
    out.push_back(one_of<Enum>(fields, key, text, names));
  }
  return out;
}

// "tp, cp, dp, pp": the dimensions from the innermost on.
Order order_of(Fields& fields, const std::string& text) {
  Order out{};
  std::string_view rest = text;
  for (Dimension& dimension : out) {
    const std::string_view word = rest.substr(0, rest.find(", "));
    dimension = one_of<Dimension>(fields, "orders", std::string(word), kDimensionNames);
    rest.remove_prefix(std::min(rest.size(), word.size() + 2));
  }
  const bool all = std::is_permutation(out.begin(), out.end(), Layout().order.begin());
  if (!all || !rest.empty()) fields.fail("orders", "each names tp, cp, dp and pp once");
  return out;
}

std::array<bool, 4> stages_of(Fields& fields, std::string_view key) {
  std::array<bool, 4> out{};
  for (const std::int64_t stage : fields.naturals_or_empty(key)) {
    if (stage > 3) {
      fields.fail(key, "holds what is no ZeRO stage, 0 to 3");
    } else {
      out[static_cast<std::size_t>(stage)] = true;
    }
  }
  return out;
}

}  // namespace

Result<Offers> read_offers(const Document& document) {
  Problems problems;
  Fields file(document, problems);
  Fields fields = file.table("plan", /*required=*/true);
  Offers out;
  for (const std::string& text : fields.texts_or_empty("orders")) {
    out.orders.push_back(order_of(fields, text));
  }
  out.exchanges = each_of<ContextExchange>(fields, "exchanges", kContextExchangeNames);
  out.schedules = each_of<Schedule>(fields, "schedules", kScheduleNames);
  if (out.orders.empty()) fields.fail("orders", "must hold one at least");
  if (out.schedules.empty()) fields.fail("schedules", "must hold one at least");
  out.virtual_stages = fields.flag_or("virtual_stages", false);
  out.split_norms_optional = fields.flag_or("split_norms_optional", false);
  out.experts_need_split_norms = fields.flag_or("experts_need_split_norms", false);
  out.overlap_tensor = fields.flag_or("overlap_tensor", false);
  out.any_expert_tensor = fields.flag_or("any_expert_tensor", false);
  out.whole_expert_tensor = fields.flag_or("whole_expert_tensor", false);
  out.once_architectures = fields.texts_or_empty("once_architectures");
  out.overlap_experts = fields.flag_or("overlap_experts", false);
  out.selective = fields.flag_or("selective", false);
  out.most_recompute_every = fields.count_or("most_recompute_every", 1);
  out.zero = stages_of(fields, "zero");
  out.unsharded_alone = fields.flag_or("unsharded_alone", false);
  for (const Precision precision :
       each_of<Precision>(fields, "sharded_precisions", kPrecisionNames)) {
    out.sharded_precisions[static_cast<std::size_t>(precision)] = true;
  }
  out.sharded_with_virtual_stages = fields.flag_or("sharded_with_virtual_stages", false);
  out.hybrid = stages_of(fields, "hybrid");
  out.keeps_gathered = fields.flag_or("keeps_gathered", false);
  out.overlap =
      one_of<OverlapOffer>(fields, "overlap", fields.text_or("overlap", kOverlaps[0]), kOverlaps);
  out.offloads_optimizer = stages_of(fields, "offloads_optimizer");
  out.offloads_parameters = fields.flag_or("offloads_parameters", false);
  out.offloads_together = fields.flag_or("offloads_together", false);
  out.offloads_activations = one_of<ActivationOffload>(
      fields, "offloads_activations",
      fields.text_or("offloads_activations", kActivationOffloads[0]), kActivationOffloads);
  fields.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

const Offers& offers(Framework framework) {
  static const std::vector<Offers> kept = [] {
    std::vector<Offers> out;
    for (std::size_t i = 0; i < frameworks().size(); ++i) {
      // What a file with a base does not say of it, its base does.
      const auto each = static_cast<Framework>(i);
      const bool says = file_of(each).document.root.find("plan") != nullptr;
      out.push_back(read_offers(file_of(says ? each : base_of(each)).document).value());
    }
    return out;
  }();
  return kept[static_cast<std::size_t>(framework)];
}

}  // namespace headway
