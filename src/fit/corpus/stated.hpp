// Columns that a corpus may have besides its own: the fields of a run that none of them says, by
// their names. What they state wins over what the rules of data/corpus would assume.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fit/corpus/corpus.hpp"
#include "layout/fields.hpp"
#include "layout/run.hpp"

namespace headway {

/// The field that such a column gives: of its name with "_" for "-"; a switch that turns something
/// off is named for what it turns off (fused, reshard, causal). Null: there is none.
const FieldRow* stated_field(std::string_view column);

/// What a cell stands for: as the field is given, of a switch 1 or 0 of what the column names, of
/// "on|off" 1 or 0, too. Nothing where it stands for nothing, which legal_cells() words.
std::optional<double> stated_number(const FieldRow& field, std::string_view cell);
std::string legal_cells(const FieldRow& field);

/// What the columns of a row state, into its run.
void set_stated(const CorpusRow& row, Run& run);

}  // namespace headway
