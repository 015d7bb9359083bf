// Task files of MAD-Max (arXiv 2310.02784): a strategy for each class of layers, as fields of a
// run.
#pragma once

#include <optional>

#include "run/run.hpp"

namespace headway {

/// Whether a document states strategies as MAD-Max's tasks do.
bool is_madmax_task(const Document& document);

/// The fields of such a run, for the model file that `flags` name, whose weights decide the recipe.
/// What no layout here does is a problem.
Result<RunRequest> run_request_from_madmax(const Document& document, const RunRequest& flags);

}  // namespace headway
