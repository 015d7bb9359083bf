// How modules follow on each other: lists within lists, what is saved, joined and reshaped.
#include <algorithm>

#include "base/text.hpp"
#include "model/reading/config_fields.hpp"
#include "model/reading/module_reader.hpp"

namespace headway::reading {
namespace {

constexpr std::int64_t kMostRepeats = 1'000'000;  // of one module

}  // namespace

// The same list so many times.
void ModuleReader::group(Fields& module) {
  const std::int64_t times = bounded_or(module, "repeat", 1, 10'000);
  const bool shares = module.flag_or("shared", false);
  const std::int64_t outside = repeat_;
  const bool shared_outside = shares_weights_;
  repeat_ *= std::max<std::int64_t>(1, times);
  if (repeat_ > kMostRepeats) {
    repeat_ = outside;
    return module.fail("repeat", "makes more than 10^6 of a module");
  }
  shares_weights_ = shares_weights_ || shares;
  read_list(module, "group");
  repeat_ = outside;
  shares_weights_ = shared_outside;
}

// What enters, or what `shortcut` makes of it, is added to what the list makes of it.
void ModuleReader::residual(Fields& module) {
  const Tensor entered = at_;
  if (module.has("shortcut")) read_list(module, "shortcut");
  const Tensor beside = at_;
  at_ = entered;
  read_list(module, "residual");
  if (at_.channels != beside.channels || at_.positions() != beside.positions()) {
    module.fail("residual", "does not end in the shape of what it is added to");
  }
  add();
}

// A list whose result goes nowhere else: a head.
void ModuleReader::branch(Fields& module) {
  const Tensor here = at_;
  if (module.has("from")) at_ = saved(module, "from");
  const bool shared_outside = shares_weights_;
  shares_weights_ = shares_weights_ || module.flag_or("shared", false);
  read_list(module, "branch");
  shares_weights_ = shared_outside;
  at_ = here;
}

Tensor ModuleReader::saved(Fields& module, std::string_view key) {
  const std::string name = module.text(key);
  const auto found = saved_.find(name);
  if (found != saved_.end()) return found->second;
  module.fail(key, "is '" + printable(name) + "', which no module before it saves");
  return at_;
}

void ModuleReader::take(Fields& module) {
  at_ = saved(module, "take");
}

void ModuleReader::add_saved(Fields& module) {
  const Tensor other = saved(module, "add");
  if (other.channels != at_.channels || other.positions() != at_.positions()) {
    module.fail("add", "has another shape");
  }
  add();
}

void ModuleReader::concat(Fields& module) {
  const Tensor other = saved(module, "concat");
  if (other.positions() != at_.positions()) module.fail("concat", "has other sizes");
  at_.channels += other.channels;
  pass(at_.elements(), 2, 2, 2, 2, 0);
}

void ModuleReader::reshape(Fields& module) {
  const std::vector<std::int64_t> sizes = module.naturals_or_empty("reshape");
  if (sizes.empty() || std::any_of(sizes.begin(), sizes.end(),
                                   [](auto size) { return size < 1 || size > kMostHidden; })) {
    return module.fail("reshape", "must be the channels, then the sizes");
  }
  become(module, {sizes[0], {sizes.begin() + 1, sizes.end()}});
}

}  // namespace headway::reading
