// The expected calls of one run and how they are shown. Internal to src/api.
#pragma once

#include <string>
#include <vector>

#include "api/predict.hpp"
#include "platform/output.hpp"
#include "study/traffic/textbook.hpp"
#include "study/traffic/traffic.hpp"

namespace headway {

struct ExpectedCalls {
  Run run;
  Forecast forecast;
  Traffic traffic;
  std::vector<TextbookVolume> textbook;
  std::string small;               // what is called small, in words
  std::vector<std::string> notes;  // for people: what does not fit, what was assumed
};

/// For a terminal of 80 columns.
std::string expected_text(const ExpectedCalls& expected);

/// One document; its fields are listed in docs/communication.md.
std::string expected_json(const ExpectedCalls& expected);

/// Every call of every class of rank, one a line.
std::string expected_csv(const ExpectedCalls& expected);

/// calls.svg and sizes.svg in `folder`.
std::vector<OutputFile> expected_plots(const ExpectedCalls& expected, const std::string& folder);

}  // namespace headway
