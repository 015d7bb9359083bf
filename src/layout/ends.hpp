// How many layers the ends of a pipeline count as, where a run does not say it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "layout/layout.hpp"

namespace headway {

/// Layers that embedding, and head with prediction modules, count as where layers are spread.
struct EndSlots {
  std::int64_t embedding = 0, head = 0;
  friend bool operator==(const EndSlots&, const EndSlots&) = default;
};

void apply(const EndSlots& slots, Layout& layout);

/// The first chunk of a pipeline that holds neither a layer nor an end that takes the place of all
/// its layers.
std::optional<std::int64_t> chunk_without_work(const Model& model, const Layout& layout);
/// Whether there are layers, or the ends in their place, for all chunks.
bool fills_chunks(const Model& model, const Layout& layout);

/// Forward model FLOPs of one sequence on each rank of a pipeline, of its layers and ends; of two
/// copies of the model half of each.
std::vector<double> work_of_ranks(const Model& model, const Job& job, const Layout& layout);

/// [STEP-25] The slots with which the rank that has most to do has least. Of those as good the
/// fewest: none where an even spread of the layers is.
EndSlots balanced_ends(const Model& model, const Job& job, const Layout& layout);

/// What stands where a run does not say it: none where layers divide evenly, or the job's framework
/// would not take any [STEP-25].
EndSlots usual_ends(const Model& model, const Job& job, const Layout& layout);

}  // namespace headway
