// Rows that say "out of memory" of runs that others of the same table show to need less.
#pragma once

#include <vector>

#include "fit/corpus/corpus.hpp"

namespace headway {

/// By row: one of the same source, framework and accelerator that ran with nine tenths of the
/// memory at most, although it holds as much of everything on a rank or more: as many or larger
/// layers of as many or longer sequences in flight, split among as many ranks or fewer. A row out
/// of memory that has one failed for another reason. Null where there is none, or the row ran.
std::vector<const CorpusRow*> larger_that_ran(const std::vector<CorpusRow>& rows);

}  // namespace headway
