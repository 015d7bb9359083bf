// The form of data/frameworks/*.toml: one file for each framework, whose members are those of
// Habits, with a [[since]] table for what software of a later date does in another way, and tables
// that others read (plan: which layouts the planner offers).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "layout/frameworks/habits.hpp"

namespace headway {

/// What software of a date in years or later does; 0: of any date.
struct DatedHabits {
  double since = 0;
  Habits habits;
};

struct FrameworkFile {
  std::string name;                 // of the file
  std::string title;                // as its makers write it
  double order = 0;                 // its place in lists
  std::string base;                 // the framework whose habits it has, but for what it states
  std::string told;                 // of every run of it
  bool of_networks = false;         // what trains networks of modules that name none
  std::string uneven_stages;        // the option that spreads layers that do not divide
  std::vector<DatedHabits> habits;  // the oldest first; never empty
  Document document;
};

/// One framework; `others`: among which its base is. Every value needs a source.
Result<FrameworkFile> read_framework(Document document, const std::string& name,
                                     std::span<const FrameworkFile> others = {});

/// All of them, in the order of lists, with every problem of every file.
Result<std::vector<FrameworkFile>> read_frameworks(std::span<const Document> documents);

/// Those of data/frameworks.
const std::vector<FrameworkFile>& frameworks();

/// A built-in framework's file.
const FrameworkFile& file_of(Framework framework);

}  // namespace headway
