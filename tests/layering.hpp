// The rules of DESIGN §3 and §4 that can be read off the source text: who may include whom, how
// large a room may be, what the code names, and that a formula's id stands in the code, in
// docs/models and in a test.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace headway::testing {

/// Path from the root of the repository ("src/base/text.hpp") -> text.
using SourceTree = std::map<std::string, std::string>;

/// The .hpp and .cpp files of src/, apps/ and tests/ and the .md files of docs/models/ under
/// `root`.
SourceTree read_source_tree(const std::string& root);

/// Tests, benchmarks and headers that only they include.
bool is_of_tests(const std::string& path);

// Each returns one line for each breach, "path:line what is wrong".
using Breaches = std::vector<std::string>;

/// Each folder, and each folder in one, includes only folders that stand before it; quoted includes
/// name a file of src/ or one beside the file.
Breaches layer_breaches(const SourceTree& tree);

/// step, cost, forecast, simulate and limits include no header of files, clocks, threads, streams
/// or randomness; no library folder includes <iostream>.
Breaches purity_breaches(const SourceTree& tree);

/// Heavy headers stand in their one .cpp; headers of src/ include only std and each other.
Breaches heavy_header_breaches(const SourceTree& tree);

/// A folder of src/ holds at most 25 files, api 20; tests are not counted.
Breaches room_breaches(const SourceTree& tree);

/// Code of src/ that names a framework or an architecture, outside the rooms that read or write
/// what they call their own. Comments may, and say where a fact comes from.
Breaches name_breaches(const SourceTree& tree, const std::set<std::string>& names);
/// The frameworks and architectures of data/, and some more.
std::set<std::string> names_in_data(const std::string& root);
std::string without_comments(std::string_view code);

/// Types of one full name in two headers.
Breaches type_breaches(const SourceTree& tree);

/// Text of a problem, its message or place, that is searched for words or compared with some (what
/// is wrong is said by its kind, fields and place), and places written as text ("--tp").
Breaches problem_breaches(const SourceTree& tree);

/// Ids like [COLL-3] that do not stand in all three of code, docs/models and tests.
Breaches formula_id_breaches(const SourceTree& tree);

}  // namespace headway::testing
