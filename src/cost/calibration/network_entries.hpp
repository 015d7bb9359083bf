// The form of data/calibration/networks*.toml, for those who write it.
#pragma once

#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "cost/collective/collective.hpp"

namespace headway {

/// The constants of a network class: its entry by name, else "default". Entries of `fitted` overlay
/// those of `estimated`, field by field, before an entry's `from` (what it borrows) is followed.
Result<NetworkParameters> network_parameters_from(const Document& estimated, const Document* fitted,
                                                  const std::string& network);

/// The constants of a class by the embedded data/calibration/networks-estimated.toml, without the
/// embedded fit, but with `fitted` where it is given.
Result<NetworkParameters> estimated_network_parameters(const std::string& network,
                                                       const Document* fitted = nullptr);

/// The fields of an entry as they stand in the file, one "key = value" a line.
std::string network_fields_text(const NetworkParameters& parameters);

}  // namespace headway
