// Megatron-DeepSpeed: a script whose command names a configuration of DeepSpeed.
#include <algorithm>

#include "base/text.hpp"
#include "launch/megatron/megatron.hpp"

namespace headway::launch {
namespace {

constexpr std::string_view kConfig = "--deepspeed-config";

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
}

bool lists(const std::string& parts, const std::string& part) {
  return ("," + parts + ",").find("," + part + ",") != std::string::npos;
}

// The text of the file that sed makes of another.
std::string with_words_replaced(std::string text, const ShellFile& file) {
  for (const auto& [word, by] : file.replaced) {
    std::string out;
    std::size_t at = 0;
    for (std::size_t found; (found = text.find(word, at)) != std::string::npos;) {
      out.append(text, at, found - at).append(by);
      at = found + word.size();
      if (out.size() > kLargestExpansion) return out;
    }
    text = out.append(text, at);
  }
  return text;
}

// What both offload. Of activations a configuration says how recomputation keeps its inputs:
// without recomputation nothing.
std::string offloaded(const std::string& config, const std::string& script, bool recomputes) {
  std::vector<std::string> parts;
  for (const char* part : {"optimizer", "activations", "parameters"}) {
    const bool idle = std::string_view(part) == "activations" && !recomputes;
    if (lists(script, part) || (lists(config, part) && !idle)) parts.emplace_back(part);
  }
  return parts.empty() ? "none" : join(parts, ",");
}

}  // namespace

LaunchRequest deepspeed_beside(const MegatronArguments& arguments, const LaunchOpener& open,
                               Problems& problems) {
  const std::string name = arguments.text(kConfig);
  if (!arguments.deepspeed() || name.empty()) return {};
  std::optional<std::string> text;
  std::string shown = base_name(name);
  for (const ShellFile& file : arguments.files) {  // the last that the script writes counts
    if (file.name != name) continue;
    if (file.from.empty()) {
      text = std::string(static_cast<std::size_t>(std::max(0, file.line - 1)), '\n') + file.text;
      shown = arguments.file;
    } else if (auto other = open ? open(file.from) : std::nullopt) {
      text = with_words_replaced(std::move(*other), file);
      shown = base_name(file.from);
    }
  }
  if (!text && open) text = open(name);
  if (text) {
    auto config = read_deepspeed(*text, shown, true);
    if (config) return std::move(config).value();
    append(problems, config.problems());
    return {};
  }
  const std::string missing = "'" + printable(name) +
                              "' is neither written by the script nor "
                              "beside it";
  if (!arguments.has("--zero-stage")) {
    problems.push_back({arguments.where(kConfig),
                        missing + ", and nothing else says the ZeRO stage; put the file there, or "
                                  "give --zero-stage"});
    return {};
  }
  LaunchRequest out;
  out.notes.push_back(missing +
                      ": no states are offloaded, and DeepSpeed's defaults hold for overlap, "
                      "optimizer and batch");
  return out;
}

void join_deepspeed(LaunchRequest config, LaunchRequest& script, Problems& problems) {
  const auto find = [&](std::string_view name) -> GivenField* {
    for (GivenField& field : script.fields) {
      if (field.name == name) return &field;
    }
    return nullptr;
  };
  const auto recomputes = find("recompute");
  const bool full = recomputes != nullptr && recomputes->text == "full";
  for (GivenField& field : config.fields) {
    if (field.name == "framework") continue;
    GivenField* const given = find(field.name);
    if (field.name == "offload") {
      field.text = offloaded(field.text, given == nullptr ? "" : given->text, full);
      script.fields.push_back(std::move(field));  // the last of a name counts
    } else if (given == nullptr) {
      script.fields.push_back(std::move(field));
    } else if (given->text != field.text) {
      problems.push_back({field.where, "is " + printable(field.text) + ", and " +
                                           printable(given->text) + " at " +
                                           where_text(given->where) + "; both must say the same"});
    }
  }
  for (std::string& note : config.notes) script.notes.push_back(std::move(note));
  append(script.with_tensor_parallelism, config.with_tensor_parallelism);
  script.micro_batches = config.micro_batches;
  if (config.bucket > 0) {
    script.bucket = config.bucket;
    script.bucket_stated = config.bucket_stated;
  }
}

}  // namespace headway::launch
