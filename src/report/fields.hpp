// What is said of the fields of a run, and of those of serving, outside help: made from the table,
// and held equal to it by tests/golden_test.cpp.
#pragma once

#include <string>

namespace headway {

/// The tables of docs/fields.md, a heading each.
std::string fields_markdown();

/// web/src/lib/fields.ts: the names, groups and kinds of the fields, what may be chosen, and which
/// a search varies.
std::string fields_typescript();

/// The same of what `infer` is asked: the tables of docs/infer.md; web/src/lib/servingFields.ts.
std::string serving_fields_markdown();
std::string serving_fields_typescript();

}  // namespace headway
