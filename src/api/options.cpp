#include "api/options.hpp"

#include <algorithm>
#include <iterator>

namespace headway {

void add_fields(std::vector<Option>& options, RunRequest& into, std::span<const RunField> fields,
                const std::vector<std::string_view>& needed) {
  options.reserve(options.size() + fields.size() + 32);
  const auto begin = static_cast<std::ptrdiff_t>(options.size());
  for (const RunField& field : fields) {
    const bool taken = std::any_of(options.begin(), options.begin() + begin,
                                   [&](const Option& each) { return each.name == field.name; });
    if (taken) continue;
    options.push_back(
        {.name = field.name,
         .value = field.value,
         .help = field.help,
         .target = &into,
         .required = std::find(needed.begin(), needed.end(), field.name) != needed.end(),
         .takes = &field.form,
         .group = field.group});
  }
  // Help shows headings in the order in which they come.
  std::stable_sort(options.begin() + begin, options.end(), [](const Option& a, const Option& b) {
    const auto place = [](const Option& option) {
      return std::find(kFieldGroups.begin(), kFieldGroups.end(), option.group);
    };
    return place(a) < place(b);
  });
}

void add(std::vector<Option>& options, std::vector<Option> more) {
  options.insert(options.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
}

Option path(std::string_view name, std::string_view value, std::string_view help, Target target) {
  return {.name = name, .value = value, .help = help, .target = target, .door = Door::command_line};
}

Option operand(std::string_view shown, std::string_view help, Target target) {
  return {.name = {}, .help = help, .target = target, .door = Door::command_line, .operand = shown};
}

Option wordless(std::string_view name, std::string_view help, bool& target) {
  return {.name = name, .help = help, .target = &target};
}

}  // namespace headway
