// Reads models: Hugging Face config.json, Headway's own .toml form, and the built-in names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "model/model.hpp"

namespace headway {

/// A model from a built-in name ("llama-2-7b") or a path to a config.json or .toml.
Result<Model> load_model(const std::string& name_or_path);

/// A Hugging Face config.json. Unknown fields are ignored; an unknown architecture or a missing or
/// contradictory field is a problem that names it. Fields that transformers gives a default may be
/// absent.
Result<Model> model_from_config(const Document& config, std::string name);

/// Headway's own form; unknown fields are problems.
Result<Model> model_from_toml(const Document& document, std::string name);

/// A model file of MAD-Max (arXiv 2310.02784, docs/workloads.md); nothing for other documents.
std::optional<Result<Model>> model_from_madmax(const Document& document, const std::string& name);
/// Bytes of a weight of such a file that is no embedding, which decide the recipe; 0: it is none.
int madmax_weight_bytes(const Document& document);

/// The built-in names, sorted.
std::vector<std::string> model_names();

}  // namespace headway
