// Parts of documents that several commands write. Internal to src/api.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "api/json_writer.hpp"
#include "base/document/document.hpp"
#include "forecast/forecast.hpp"
#include "run/run.hpp"

namespace headway {

using Json = nlohmann::ordered_json;

/// A document as text. Names may come from file names, which need not be UTF-8; a document must.
std::string document_text(const Json& document);

/// A document that was read, or a part of it, as it stands.
Json node_json(const Node& node);

/// The same, as the next value of a document that is written.
void write(JsonWriter& into, const Json& value);

/// The fields of DESIGN §6.
Json run_layout_json(const Run& run);
Json run_job_json(const Run& run);

/// [low, high] at 80 %; null where there is none.
template <class Q>
Json interval_json(const std::optional<Interval<Q>>& interval) {
  if (!interval) return nullptr;
  return {interval->low.value(), interval->high.value()};
}

}  // namespace headway
