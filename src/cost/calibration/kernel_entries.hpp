// The form of data/calibration/kernels*.toml, for those who write it.
#pragma once

#include <string>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "cluster/cluster.hpp"
#include "cost/kernels/kernels.hpp"

namespace headway {

/// The name of a tile shape in the files: "t256x128".
std::string tile_name(Tile tile);

/// The name of the table of a format's constants: "products_8_bit".
std::string product_table(ProductFormat format);

/// The entry that holds for an accelerator: by its name ("a40"), else its architecture ("tpu-v5p"),
/// else the architecture's leading letters ("tpu"), else "default".
std::string kernel_entry_for(const Document& document, const Accelerator& accelerator);

/// The constants of an accelerator. Entries of `fitted` overlay those of `estimated`, field by
/// field, before an entry's `from` (what it borrows) is followed.
Result<KernelParameters> kernel_parameters_from(const Document& estimated, const Document* fitted,
                                                const Accelerator& accelerator);

/// The embedded data/calibration/kernels-estimated.toml: the constants before any fit.
Result<Document> estimated_kernel_entries();

}  // namespace headway
