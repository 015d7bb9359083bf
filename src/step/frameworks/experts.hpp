// How experts are split where a run does not say it.
#pragma once

#include <cstdint>

#include "layout/layout.hpp"

namespace headway {

/// The tensor degree inside experts: that of the layers where the job's framework splits them alike
/// and it divides their width and, with ep, the ranks of a stage; else 1.
std::int64_t usual_expert_tensor(const Model& model, const Job& job, const Layout& layout);

}  // namespace headway
