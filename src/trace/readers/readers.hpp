// One reader for each format: adds what the source says to a recording. Sources are unpacked
// already. Readers stop at nothing: what they cannot read they count (Recording::omissions).
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "trace/io/byte_source.hpp"
#include "trace/recording/recording.hpp"

namespace headway {

/// PyTorch profiler (Kineto): Chrome trace events of one rank.
void read_kineto(ByteSource& source, Recording& recording);
/// PyTorch Execution Trace, schemas 1.0.1 to 1.1.1: which calls, no times.
void read_execution_trace(ByteSource& source, Recording& recording);
/// MLCommons Chakra, protobuf.
void read_chakra(ByteSource& source, Recording& recording);
/// Chakra nodes as JSON ("workload_graph", or the protobuf's own JSON form).
void read_chakra_json(ByteSource& source, Recording& recording);
/// NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=COLL, of NCCL or RCCL: which calls, no durations.
void read_nccl_debug(ByteSource& source, Recording& recording);
/// Events of an NCCL profiler plugin, one JSON object a line.
void read_nccl_profiler(ByteSource& source, Recording& recording);
/// The same as NCCL's example plugin dumps them: one array of Chrome's asynchronous events.
void read_nccl_profiler_chrome(ByteSource& source, Recording& recording);
/// NCCL Inspector, one JSON object a line.
void read_nccl_inspector(ByteSource& source, Recording& recording);
/// PyTorch flight recorder, as JSON.
void read_flight_recorder(ByteSource& source, Recording& recording);
/// The same as a pickle, as PyTorch dumps it by default; stack traces are left out.
void read_flight_recorder_pickle(ByteSource& source, Recording& recording);
/// The DeepSpeed communication logger's lines and summary table.
void read_deepspeed(ByteSource& source, Recording& recording);
/// nccl-tests (rccl-tests), the table on the terminal.
void read_nccl_tests(ByteSource& source, Recording& recording);
/// nccl-tests -J.
void read_nccl_tests_json(ByteSource& source, Recording& recording);
/// OSU micro-benchmarks, the table on the terminal.
void read_osu(ByteSource& source, Recording& recording);

/// What headway's own recorders write (headway record): records behind a line of JSON.
void read_headway_record(ByteSource& source, Recording& recording);

/// Nsight Systems, exported to SQLite. These take the file, or its bytes; `told` may stop them.
Result<Recording> read_nsight_file(const std::string& path, const BytesRead& told = {});
Result<Recording> read_nsight_bytes(std::string_view bytes);

}  // namespace headway
