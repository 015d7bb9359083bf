// JSON documents of the commands besides predict.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"
#include "fit/validation/validation.hpp"
#include "launch/launch.hpp"

namespace headway {

/// {"models": ["...", ...]}.
std::string names_json(const std::string& kind, const std::vector<std::string>& names);

/// {"machines": ["...", ...], "numbers": [{name, title, stands_for, peak_flop_per_s, ...}, ...]}:
/// the machines of the limits study, with the numbers that a setting in place may change.
std::string machines_json();

/// The members of a document, as they stand.
std::string document_json(const Document& document);

/// One line on a built-in model, cluster or accelerator.
std::string description_of(std::string_view kind, const std::string& name);

/// {framework, version, files: [{name, text}, ...]}.
std::string launch_json(Launcher launcher, const std::vector<LaunchFile>& files);

/// {by, groups: [...], all, aims: [...]}; the fields of a group and of an aim are listed in
/// docs/validation.md. What a group has no rows for is null. With `rows`, also each row: the
/// columns of --rows, empty cells null.
std::string validation_json(const ValidationReport& report, bool rows = false);

}  // namespace headway
