// The commands of the library and one more.
#define command_rows library_command_rows
#include "api/command_rows.cpp"
#undef command_rows

namespace headway {
namespace {

Command tea_command() {
  struct Request {
    std::int64_t cups = 1;
    std::string leaf = "black";
  };
  auto request = std::make_shared<Request>();
  Command out{.name = "tea", .help = "makes tea", .examples = {"headway tea --cups 2"}};
  out.options = {{.name = "cups",
                  .value = "N",
                  .help = "for how many",
                  .target = &request->cups,
                  .range = Range{1, 12},
                  .checked = true},
                 {.name = "leaf", .help = "which", .target = &request->leaf, .names = [] {
                    return std::vector<std::string>{"black", "green"};
                  }}};
  out.run = [request](const Circumstances& at) -> CommandOutput {
    const std::string cups = std::to_string(request->cups);
    return {.text = at.json ? R"({"leaf": ")" + request->leaf + R"(", "cups": )" + cups + "}"
                            : cups + " cups of " + request->leaf + "\n"};
  };
  return out;
}

}  // namespace

std::span<const CommandRow> command_rows();
std::span<const CommandRow> command_rows() {
  static const std::vector<CommandRow> out = [] {
    std::vector<CommandRow> all(library_command_rows().begin(), library_command_rows().end());
    all.push_back({"tea", tea_command});
    return all;
  }();
  return out;
}

}  // namespace headway
