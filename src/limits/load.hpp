// Machines, settings and comparisons of settings from documents. Nothing here opens a file: who may
// do so passes a function that opens machines.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "limits/machine/setting.hpp"

namespace headway::limits {

/// Opens what a document calls a machine; `from` is that document's file, `where` the place of the
/// name in it.
using OpenMachine = std::function<Result<Document>(const std::string& name, const std::string& from,
                                                   const Where& where)>;

/// Opens a built-in machine; any other name is a problem.
Result<Document> open_embedded_machine(const std::string& name, const std::string& from,
                                       const Where& where);

/// The machine of a document (data/limits/machines/*.toml shows the form). `base` names a machine
/// whose members lie under those of the document; `cluster` takes accelerator and levels from
/// data/.
Result<Machine> read_machine(const Document& document, const std::string& name,
                             const OpenMachine& open = open_embedded_machine);

/// The built-in machine of that name.
Result<Machine> embedded_machine(const std::string& name);
std::vector<std::string> machine_names();  // sorted

/// Settings that are shown together.
struct Comparison {
  std::string name;
  std::string title;
  std::vector<Setting> settings;
};

/// One setting, or several in the array `settings`, each with the other members of the document
/// under its own. Settings are named apart.
Result<Comparison> read_comparison(const Document& document, const std::string& name,
                                   const OpenMachine& open = open_embedded_machine);

/// The built-in comparison of that name (data/limits/comparisons).
Result<Comparison> embedded_comparison(const std::string& name);
std::vector<std::string> comparison_names();  // sorted

/// A setting with the defaults of the study on this machine.
Setting setting_on(Machine machine);

}  // namespace headway::limits
