#include "launch/launch.hpp"

#include <algorithm>
#include <cmath>

#include "base/whole_number.hpp"
#include "launch/parts.hpp"
#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

// Options that turn Megatron-DeepSpeed's DeepSpeed on.
bool is_deepspeed_script(std::string_view text) {
  constexpr std::string_view kTelling[] = {"--deepspeed", "--zero-stage", "--zero_stage",
                                           "--ds-sequence-parallel-size"};
  return std::any_of(std::begin(kTelling), std::end(kTelling), [&](std::string_view option) {
    return text.find(option) != std::string_view::npos;
  });
}

bool is_megatron(std::string_view text) {
  constexpr std::string_view kTelling[] = {"--tensor-model-parallel-size", "--num-layers",
                                           "--hidden-size", "--micro-batch-size",
                                           "--pipeline-model-parallel-size"};
  return std::any_of(std::begin(kTelling), std::end(kTelling), [&](std::string_view option) {
    return text.find(option) != std::string_view::npos;
  });
}

bool is_deepspeed(const Node& root) {
  constexpr std::string_view kTelling[] = {"train_batch_size", "train_micro_batch_size_per_gpu",
                                           "gradient_accumulation_steps", "zero_optimization"};
  return std::any_of(std::begin(kTelling), std::end(kTelling),
                     [&](std::string_view name) { return root.find(name) != nullptr; });
}

// A line that begins the table of degrees.
bool is_nanotron(std::string_view text) {
  constexpr std::string_view kTelling = "parallelism:";
  for (std::size_t at = text.find(kTelling); at != std::string_view::npos;
       at = text.find(kTelling, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') return true;
  }
  return false;
}

// Tables that only torchtitan has; a run file has at most the table of its model.
bool is_torchtitan(const Node& root) {
  constexpr std::string_view kTelling[] = {"training", "parallelism", "activation_checkpoint"};
  return std::any_of(std::begin(kTelling), std::end(kTelling), [&](std::string_view name) {
    const Node* node = root.find(name);
    return node != nullptr && node->table() != nullptr;
  });
}

// A file of a text as launch_text() writes several.
struct Section : LaunchFile {
  std::size_t line = 0;  // lines before it
};

std::vector<Section> sections_of(std::string_view text) {
  constexpr std::string_view kBegin = "==> ", kEnd = " <==";
  constexpr std::size_t kMost = 8;
  std::vector<Section> out;
  if (!text.starts_with(kBegin)) return out;
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view one = text.substr(at, end - at);
    at = end + 1;
    if (one.starts_with(kBegin) && one.ends_with(kEnd) &&
        one.size() > kBegin.size() + kEnd.size() && out.size() < kMost) {
      const std::size_t size = one.size() - kBegin.size() - kEnd.size();
      out.push_back({{std::string(one.substr(kBegin.size(), size)), {}}, line + 1});
    } else if (!out.empty()) {
      out.back().text.append(one) += '\n';
    }
  }
  return out;
}

// The one of several files that starts the others: a script, where there is one.
const Section& main_section(const std::vector<Section>& sections) {
  const auto script = std::find_if(sections.begin(), sections.end(), [](const Section& section) {
    return section.name.ends_with(".sh");
  });
  return script == sections.end() ? sections.front() : *script;
}

}  // namespace

std::vector<std::string> launcher_names() {
  std::vector<std::string> out;
  for (const LauncherRow& row : kLaunchers) out.emplace_back(row.name);
  return out;
}

std::optional<Launcher> launcher_named(std::string_view name) {
  const auto found = std::find_if(kLaunchers.begin(), kLaunchers.end(),
                                  [&](const LauncherRow& row) { return row.name == name; });
  if (found == kLaunchers.end()) return std::nullopt;
  return static_cast<Launcher>(found - kLaunchers.begin());
}

Result<std::vector<LaunchFile>> launch_files(const Run& run, Launcher launcher) {
  const LauncherRow& row = row_of(launcher);
  if (name_of(run.job.framework) != row.framework) {
    return Problem{FieldName("framework"), "is " + std::string(name_of(run.job.framework)) +
                                               "; a configuration of " + std::string(row.name) +
                                               " starts a run of " + std::string(row.framework)};
  }
  switch (launcher) {
    case Launcher::megatron:
      return launch::write_megatron(run);
    case Launcher::torchtitan:
      return launch::write_torchtitan(run);
    case Launcher::deepspeed:
      return launch::write_deepspeed(run);
    case Launcher::nanotron:
      return launch::write_nanotron(run);
  }
  return Problems{};
}

std::optional<Launcher> launcher_of(std::string_view text, const std::string& file) {
  if (const auto sections = sections_of(text); !sections.empty()) {
    return launcher_of(main_section(sections).text, file);
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return std::nullopt;
  if (text[first] == '{') {
    const auto json = parse_json(text, file);
    if (json && is_deepspeed(json->root)) return Launcher::deepspeed;
    return std::nullopt;
  }
  if (is_nanotron(text)) return Launcher::nanotron;
  if (const auto toml = parse_toml(text, file)) {
    // A file of bare "--name=value" lines is valid TOML, too.
    const auto& members = *toml->root.table();
    const bool arguments = std::any_of(members.begin(), members.end(), [](const auto& member) {
      return member.first.starts_with("--");
    });
    if (!arguments) {
      if (is_torchtitan(toml->root)) return Launcher::torchtitan;
      return std::nullopt;
    }
  }
  if (!is_megatron(text)) return std::nullopt;
  return is_deepspeed_script(text) ? Launcher::deepspeed : Launcher::megatron;
}

void settle_batch(std::int64_t micro_batches, RunRequest& fields) {
  const auto value = [&](std::string_view name) -> std::int64_t {
    std::int64_t out = 0;  // the last of a name counts
    for (const GivenField& field : fields) {
      if (field.name == name) out = whole_number(field.text).value_or(-1);
    }
    return out;
  };
  constexpr double kMost = 1e12;
  const auto degree = [&](const char* name) {
    return static_cast<double>(std::max<std::int64_t>(1, value(name)));
  };
  const double ranks = degree("tp") * degree("pp") * degree("cp");
  const double replicas = value("dp") > 0 ? degree("dp") : std::floor(degree("gpus") / ranks);
  const double batches = replicas * static_cast<double>(micro_batches);
  const std::int64_t batch = value("global-batch"), micro = value("micro-batch");
  if (batches < 1 || batches > kMost) return;
  const Where where = member("gradient_accumulation_steps");
  if (batch == 0 && micro > 0 && batches * static_cast<double>(micro) <= kMost) {
    const auto all = static_cast<std::int64_t>(batches) * micro;
    fields.push_back({"global-batch", std::to_string(all), where});
  } else if (micro == 0 && batch > 0 && batch % static_cast<std::int64_t>(batches) == 0) {
    const std::int64_t each = batch / static_cast<std::int64_t>(batches);
    fields.push_back({"micro-batch", std::to_string(each), where});
  }
}

namespace {

// The run of the fields that are numbers, as far as they are given.
Run run_of(const RunRequest& fields) {
  Run run;
  run.layout.zero = -1;
  for (const FieldRow& row : field_rows()) {
    for (const GivenField& field : fields) {
      if (field.name != row.field.name || !can_be_set(row)) continue;
      if (const auto number = number_of(row.field.form, field.text)) set_number(run, row, *number);
    }
  }
  if (run.layout.zero < 0) run.layout.zero = habits(run.job).sharding.zero;
  return run;
}

// Frameworks count a bucket's parameters, or what they take before they are sent. Where its size
// changes nothing no field says it.
void settle_bucket(LaunchRequest& request) {
  if (!(request.bucket > 0)) return;
  const Run run = run_of(request.fields);
  if (!states_buckets(run.job, run.layout)) {
    request.notes.push_back(
        "the size of gradient buckets is not read with this run's ZeRO stage "
        "and overlap");
    return;
  }
  const Bytes size = request.bucket * reduced_bytes(run.job);
  const FieldRow& row = *field_row("bucket-size");
  request.fields.push_back(
      {"bucket-size", text_of(row.field.form, size.value()), request.bucket_stated});
}

}  // namespace

Result<LaunchRequest> read_launch(std::string_view text, const std::string& file, Launcher launcher,
                                  std::int64_t accelerators, const LaunchOpener& open) {
  const std::vector<Section> sections = sections_of(text);
  if (!sections.empty()) {
    const Section& main = main_section(sections);
    // Behind as many empty lines as stand before it, so that its lines are those of the whole.
    return read_launch(std::string(main.line, '\n') + main.text, file, launcher, accelerators,
                       [&](const std::string& name) -> std::optional<std::string> {
                         for (const Section& section : sections) {
                           if (section.name == name) return section.text;
                         }
                         return open ? open(name) : std::nullopt;
                       });
  }
  auto out = [&]() -> Result<LaunchRequest> {
    switch (launcher) {
      case Launcher::megatron:
        return launch::read_megatron(text, file, accelerators, open);
      case Launcher::torchtitan:
        return launch::read_torchtitan(text, file, accelerators);
      case Launcher::deepspeed: {
        const std::size_t first = text.find_first_not_of(" \t\r\n");
        const bool json = first == std::string_view::npos || text[first] == '{';
        return json ? launch::read_deepspeed(text, file, false)
                    : launch::read_megatron(text, file, accelerators, open);
      }
      case Launcher::nanotron:
        return launch::read_nanotron(text, file);
    }
    return LaunchRequest();
  }();
  if (out) settle_bucket(out.value());
  return out;
}

std::string launch_text(const std::vector<LaunchFile>& files) {
  if (files.size() == 1) return files[0].text;
  std::string out;
  for (const LaunchFile& file : files) out += "==> " + file.name + " <==\n" + file.text + "\n";
  return out;
}

}  // namespace headway
