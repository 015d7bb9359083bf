// The part of Python's pickle format that plain data need, as JSON. Nothing in a pickle is ever
// run.
#pragma once

#include <string>

#include "base/result.hpp"
#include "trace/io/byte_source.hpp"

namespace headway {

/// Lists, tuples, dictionaries, texts, numbers, True, False and None, of protocol 2 to 5; anything
/// else (objects, calls) is a problem. Members named `skipped` are left out. Bounded: pickles of up
/// to 128 MiB, 4 million values, 128 MiB of JSON, 64 levels; an inner value may stand in several
/// places and is written in each.
Result<std::string> json_of_pickle(ByteSource& source, std::string_view skipped = {});

}  // namespace headway
