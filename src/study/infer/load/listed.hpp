// Files of requests.
#pragma once

#include <vector>

#include "base/document/csv.hpp"
#include "study/infer/load/load.hpp"

namespace headway {

/// Of a file: lengths (columns input_len and output_len), moments (arrival_s), or both.
struct ListedColumns {
  bool lengths = true, moments = false;  // that must be there; the others may be
};

/// A row a request, in the order of their moments. A length that is not there is 0. `longest`:
/// tokens of a prompt and its answer together, 0: any. Everything that is wrong with the file, by
/// its lines, the first 20 of them.
Result<std::vector<Listed>> listed_requests(const Csv& csv, const ListedColumns& needed,
                                            std::int64_t longest);

}  // namespace headway
