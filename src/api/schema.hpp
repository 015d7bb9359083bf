// JSON Schemas of the requests that answer() takes and of the documents that it gives.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headway {

/// {"request": S, "response": S}, JSON Schema 2020-12, of one of kAnsweredCommands, else nothing.
/// The request's is made from the lists of fields that flags are made from; the response's is
/// data/schema/COMMAND.json.
std::optional<std::string> schema_json(std::string_view command);

/// {"commands": {"predict": {...}, ...}}: those of all commands.
std::string schemas_json();

}  // namespace headway
