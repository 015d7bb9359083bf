// Words that several commands print.
#pragma once

#include <string>

namespace headway {

/// "1,234,567"; "12.3 M" from 10 million on.
std::string short_count_text(double value);

}  // namespace headway
