// Headway's own .toml form of a network of modules (docs/workloads.md). Internal to src/model.
#pragma once

#include <string>

#include "base/document/document.hpp"
#include "model/model.hpp"

namespace headway::reading {

/// Whether a model's document lists blocks of modules.
bool is_network_form(const Document& document);

Result<Model> network_from_toml(const Document& document, std::string name);

}  // namespace headway::reading
