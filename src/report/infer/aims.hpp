// What predictions of serving aim at and where they are, as text, JSON and a page.
#pragma once

#include <span>
#include <string>

#include "base/generated.hpp"
#include "fit/serving/aims/aims.hpp"

namespace headway {

class JsonWriter;

/// Aims beside errors, and how intervals hold what their constants did not see.
std::string served_aims_text(std::span<const JudgedAim> aims, const ServedLeftOut& left_out);
/// Members of an object: aims: [{id, what, measure, at_least, at_most, rows, now, left_out_rows,
/// no_model, no_source, met, peers}], held: [{source, quantity, rows, inside, by_others, width}].
void write_served_aims(JsonWriter& out, std::span<const JudgedAim> aims,
                       const ServedLeftOut& left_out);
/// The same tables of docs/models/infer.md.
GeneratedBlocks served_aims_blocks(std::span<const JudgedAim> aims, const ServedLeftOut& left_out);

}  // namespace headway
