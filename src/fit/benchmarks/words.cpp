#include "fit/benchmarks/words.hpp"

#include <algorithm>

#include "base/document/document.hpp"
#include "base/text.hpp"
#include "cluster/load.hpp"
#include "platform/files.hpp"

namespace headway::benchmarks {

std::string plain(std::string_view cell) {
  std::string out(cell);
  for (char& c : out) {
    if (c == '_' || c == '-') c = ' ';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

namespace {

void read_machine(Fields fields, Words& words) {
  Machine machine;
  const std::string has = fields.text("has");
  machine.accelerator = fields.text_or("accelerator", "");
  machine.cluster = fields.text_or("cluster", "");
  machine.skip = fields.text_or("skip", "");
  machine.parts = static_cast<int>(fields.number_or("parts", 1));
  if (machine.skip.empty() == machine.accelerator.empty()) {
    fields.fail("accelerator", "either it or 'skip' must be given");
  }
  fields.reject_unknown();
  words.machines.emplace_back(has, machine);
}

void read_format(Fields fields, Words& words) {
  Format format;
  const auto precision = precision_from(fields.text("precision"));
  if (!precision) fields.fail("precision", "is not known");
  format.precision = precision.value_or(Precision::bf16);
  const std::string scaling = fields.text_or("scaling", "whole");
  if (scaling != "whole" && scaling != "blocks") fields.fail("scaling", "is 'whole' or 'blocks'");
  format.scaling = scaling == "blocks" ? Scaling::blocks : Scaling::whole;
  if (const std::string stored = fields.text_or("stored", ""); !stored.empty()) {
    format.stored = weight_format(stored);
    if (format.stored == nullptr) fields.fail("stored", "is no format of weights");
  }
  for (const std::string& said : fields.texts_or_empty("said")) words.formats[said] = format;
  fields.reject_unknown();
}

Result<Words> read() {
  const auto document = embedded_document("corpus/benchmarks.toml");
  if (!document) return document.problems();
  Problems problems;
  Words words;
  Fields root(*document, problems);
  words.experts_start = root.quantity<Seconds>("experts_start");
  for (Fields& fields : root.tables("machines")) read_machine(std::move(fields), words);
  for (Fields& fields : root.tables("formats")) read_format(std::move(fields), words);
  root.reject_unknown();
  if (!problems.empty()) return problems;
  return words;
}

}  // namespace

std::string name_of(const Format& format) {
  if (format.stored != nullptr) return format.stored->name;
  std::string name(to_name(format.precision));
  if (format_of(format.precision, format.scaling) == ProductFormat::bits_8_blocks) {
    name += " by blocks";
  }
  return name;
}

const Result<Words>& Words::embedded() {
  static const Result<Words> words = read();
  return words;
}

const Machine* Words::machine(std::string_view cell) const {
  const std::string said = plain(cell);
  const auto found = std::find_if(machines.begin(), machines.end(), [&](const auto& machine) {
    return said.find(machine.first) != std::string::npos;
  });
  return found == machines.end() ? nullptr : &found->second;
}

const Format* Words::format(std::string_view cell) const {
  const auto found = formats.find(cell);
  return found == formats.end() ? nullptr : &found->second;
}

const Result<Accelerated>& Machines::accelerator(const std::string& name) {
  const auto found = accelerators_.find(name);
  if (found != accelerators_.end()) return found->second;
  const auto make = [&]() -> Result<Accelerated> {
    const auto accelerator = load_accelerator(name);
    if (!accelerator) return accelerator.problems();
    const auto kernels = kernel_parameters_for(*accelerator);
    if (!kernels) return kernels.problems();
    const auto serving = serving_kernels_for(*accelerator);
    if (!serving) return serving.problems();
    const auto formats = format_kernels_for(*accelerator);
    if (!formats) return formats.problems();
    return Accelerated{*accelerator, *kernels, *serving, *formats};
  };
  return accelerators_.emplace(name, make()).first->second;
}

const Result<Joined>& Machines::cluster(const std::string& name) {
  const auto found = clusters_.find(name);
  if (found != clusters_.end()) return found->second;
  const auto make = [&]() -> Result<Joined> {
    const auto cluster = load_cluster(name);
    if (!cluster) return cluster.problems();
    const auto alone = benchmarked_for(*cluster);
    if (!alone) return alone.problems();
    return Joined{*cluster, alone->levels};
  };
  return clusters_.emplace(name, make()).first->second;
}

}  // namespace headway::benchmarks
