// Streams of jobs, as text, JSON and drawings.
#pragma once

#include <string>
#include <vector>

#include "platform/output.hpp"
#include "study/jobs/question.hpp"
#include "study/jobs/replay.hpp"

namespace headway {

/// A row for each job, and how many of the file's own outcomes are these.
std::string replayed_text(const ReplayedStream& stream);
/// {jobs: [{job, degree, blocked, jct}]}, in the order of the file.
std::string replayed_json(const ReplayedStream& stream);

/// A row for each policy at each load, and what it blocks less than max and acceptable.
std::string jobs_text(const JobsAnswer& answer);
std::string jobs_json(const JobsAnswer& answer);
/// Blocking against load.
std::vector<OutputFile> jobs_plots(const JobsAnswer& answer, const std::string& folder);

}  // namespace headway
