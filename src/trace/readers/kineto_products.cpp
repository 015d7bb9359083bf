#include <string>

#include "trace/readers/kineto_events.hpp"

namespace headway {
namespace {

constexpr std::int64_t kLongestSide = std::int64_t{1} << 40;

// The lengths of a tensor's sides; empty where they are none.
std::vector<std::int64_t> sides_of(const JsonValue& dims) {
  std::vector<std::int64_t> out;
  bool known = dims.is_array();
  dims.each([&](const JsonValue& side) {
    const auto length = side.integer();
    known = known && length && *length > 0 && *length < kLongestSide;
    if (known) out.push_back(*length);
  });
  return known ? out : std::vector<std::int64_t>();
}

// Of m x k and k x n, or the same with a number of them before; nothing where they do not fit.
std::optional<RecordedProduct> product_of(const std::vector<std::int64_t>& a,
                                          const std::vector<std::int64_t>& b) {
  const std::size_t order = a.size();
  if (order != b.size() || (order != 2 && order != 3)) return std::nullopt;
  RecordedProduct out;
  if (order == 3) {
    if (a[0] != b[0]) return std::nullopt;
    out.batch = a[0];
  }
  if (a[order - 1] != b[order - 2]) return std::nullopt;
  out.m = a[order - 2];
  out.k = a[order - 1];
  out.n = b[order - 1];
  return out;
}

}  // namespace

std::uint32_t KinetoProducts::name_of(std::string_view name, Recording& recording) {
  const std::string cut(name.substr(0, kLongestName));
  const auto known = names_.find(cut);
  if (known != names_.end()) return known->second;
  if (names_.size() >= kMostNames) return RecordedCompute::kNone;
  const auto index = static_cast<std::uint32_t>(recording.kernel_names.size());
  recording.kernel_names.push_back(cut);
  names_.emplace(cut, index);
  return index;
}

void KinetoProducts::add(std::string_view name, const JsonValue& args) {
  const auto id = args["External id"].integer();
  const JsonValue dims = args["Input Dims"], types = args["Input type"];
  if (!id || !dims.is_array()) return;
  // addmm and baddbmm have what is added first; mm and bmm may have what they write to last.
  const std::size_t first = name.find("add") != std::string_view::npos ? 1 : 0;
  auto product = product_of(sides_of(dims.at(first)), sides_of(dims.at(first + 1)));
  if (!product) return;
  product->type = element_type_from(types.at(first).text().value_or(""));
  products_.emplace(*id, *product);
}

void KinetoProducts::launched(std::size_t index, const JsonValue& args) {
  const auto id = args["External id"].integer();
  // Old traces repeat the kernel's correlation there, which is no operation's.
  if (id && args["correlation"].integer() != id) launched_.emplace_back(index, *id);
}

void KinetoProducts::join(Recording& recording) const {
  std::unordered_map<std::int64_t, std::uint32_t> index_of;
  for (const auto& [kernel, id] : launched_) {
    const auto product = products_.find(id);
    if (product == products_.end()) continue;
    const auto [at, is_new] =
        index_of.emplace(id, static_cast<std::uint32_t>(recording.products.size()));
    if (is_new) recording.products.push_back(product->second);
    recording.compute[kernel].product = at->second;
  }
}

}  // namespace headway
