// What would make a serving fit, as JSON.
#pragma once

#include <span>

#include "report/json/writer.hpp"
#include "study/infer/search/change.hpp"

namespace headway {

/// The member `would_fit`: of each change its flags.
void write_would_fit(JsonWriter& out, std::span<const ServingChange> changes);

}  // namespace headway
