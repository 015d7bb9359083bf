// comms --study: the communication study.
#pragma once

#include <string>
#include <vector>

#include "base/generated.hpp"
#include "platform/output.hpp"
#include "study/traffic/communication.hpp"

namespace headway {

/// For a terminal of 80 columns.
std::string study_text(const CommunicationStudy& study);

/// {cluster, models: [...], runs: [...]}; the fields are listed in docs/communication.md.
std::string study_json(const CommunicationStudy& study);

/// The tables of docs/communication.md.
GeneratedBlocks study_blocks(const CommunicationStudy& study);

/// Its drawings, for `folder`.
std::vector<OutputFile> study_plots(const CommunicationStudy& study, const std::string& folder);

}  // namespace headway
