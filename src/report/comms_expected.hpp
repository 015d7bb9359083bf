// comms with a run: its expected calls.
#pragma once

#include <string>
#include <vector>

#include "platform/output.hpp"
#include "study/traffic/expected.hpp"

namespace headway {

/// For a terminal of 80 columns.
std::string expected_text(const ExpectedCalls& expected);

/// One document; its fields are listed in docs/communication.md.
std::string expected_json(const ExpectedCalls& expected);

/// Every call of every class of rank, one a line.
std::string expected_csv(const ExpectedCalls& expected);

/// volume.svg and sizes.svg in `folder`.
std::vector<OutputFile> expected_plots(const ExpectedCalls& expected, const std::string& folder);

}  // namespace headway
