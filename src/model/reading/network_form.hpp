// Headway's own .toml form of a network of modules (docs/workloads.md). Internal to src/model.
#pragma once

#include <optional>
#include <string>

#include "base/document/document.hpp"
#include "model/model.hpp"

namespace headway::reading {

/// Whether a model's document lists blocks of modules.
bool is_network_form(const Document& document);

Result<Model> network_from_toml(const Document& document, std::string name);

/// A config.json of an architecture that data/networks has a template of; nothing for others.
std::optional<Result<Model>> network_from_config(const Document& config, const std::string& name);

}  // namespace headway::reading
