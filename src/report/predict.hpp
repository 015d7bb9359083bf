// predict: a run and its forecast, as JSON and as text for people.
#pragma once

#include <string>

#include "forecast/forecast.hpp"
#include "run/run.hpp"
#include "study/design/op_table.hpp"

namespace headway {

/// One JSON document with the fields of DESIGN §6; SI units, the unit in each name.
/// With `timeline` the slots of its pipeline are among them, with `ops` its op table.
std::string predict_json(const RequestedRun& run, const Forecast& forecast, bool timeline = false,
                         const OpTable* ops = nullptr);

/// Two lines that say what is run, and how.
std::string run_heading(const Run& run);

/// A table for a terminal of 80 columns.
std::string predict_text(const RequestedRun& run, const Forecast& forecast,
                         const OpTable* ops = nullptr);

class JsonWriter;  // report/json/writer.hpp

/// For a terminal: what takes the longest first, what is left of it in one line; of the whole what
/// compute, memory, network and latency are answerable for.
std::string op_table_text(const OpTable& table);
/// [{part, module, phase, op, count, flop, bytes, flop_per_byte, time_s, share, bound, bound_s}].
void write_op_table(JsonWriter& json, const OpTable& table);

}  // namespace headway
