// Model files of MAD-Max (arXiv 2310.02784): DLRM with square layers, experts or transformer layers
// between its MLPs, ViT, and transformers, as one JSON table each (docs/workloads.md).
#pragma once

#include <optional>
#include <string>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "model/model.hpp"

namespace headway {

/// A model of MAD-Max's form; nothing for other documents.
std::optional<Result<Model>> model_from_madmax(const Document& document, const std::string& name);

/// Bytes of a weight that is no embedding, which decide the recipe; 0: it is no such document.
int madmax_weight_bytes(const Document& document);

}  // namespace headway
