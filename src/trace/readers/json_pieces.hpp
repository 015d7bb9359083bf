// What every reader of JSON does with the pieces.
#pragma once

#include <string>
#include <string_view>

#include "trace/io/json_stream.hpp"
#include "trace/io/json_value.hpp"
#include "trace/recording/recording.hpp"

namespace headway {

/// Notes what the stream could not read.
inline void note_damage(const JsonStream& stream, Recording& recording) {
  omit(recording, "damaged records", stream.damaged());
  if (stream.truncated()) omit(recording, "the file ends in the middle");
  if (!stream.damage().empty()) omit(recording, stream.damage());
}

/// Calls `visit(key, value)` for each piece that is JSON.
template <class Visit>
void for_each_piece(ByteSource& source, JsonShape shape, Recording& recording, Visit visit) {
  JsonStream stream(source, shape);
  JsonParser parser;
  JsonPiece piece;
  while (stream.next(piece)) {
    const JsonValue value = parser.parse(piece.text);
    if (!value.present()) {
      stream.reject();
      continue;
    }
    if (piece.element) ++recording.records_read;
    visit(piece.key, value);
  }
  note_damage(stream, recording);
}

}  // namespace headway
