// Files that come with the program, where it is built and where it is installed.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

namespace headway {

/// The first that is there of `file` at places seen from the program's folder.
std::optional<std::string> find_beside(std::initializer_list<const char*> places,
                                       const std::string& file);

}  // namespace headway
