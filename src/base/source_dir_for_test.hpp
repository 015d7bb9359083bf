// Where the checkout lies, for tests that read files of it.
#pragma once

#include <string>

namespace headway {

/// The folder of the checkout that the tests were built from. Linked in (cmake/headway.cmake), not
/// compiled into each test: so a compiler cache serves every checkout.
const std::string& source_dir();

}  // namespace headway
