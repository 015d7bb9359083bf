// A run as what every command that looks at one layout is asked about. One list of fields serves
// the flags of the command line, run files (RUN.toml) and requests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "layout/fields.hpp"
#include "layout/run.hpp"

namespace headway {

/// A field as it was given: its text and where it stands.
struct GivenField {
  GivenField(std::string field, std::string given)
      : name(std::move(field)), text(std::move(given)), where(FieldName(name)) {}
  GivenField(std::string field, std::string given, Where at,
             std::shared_ptr<const Document> described = nullptr)
      : name(std::move(field)),
        text(std::move(given)),
        where(std::move(at)),
        document(std::move(described)) {}

  std::string name;
  std::string text;
  Where where;
  /// Of a model or cluster that is described in place; `text` is its name then.
  std::shared_ptr<const Document> document;
};

using RunRequest = std::vector<GivenField>;

/// The last stages of a pipeline, where they stand on accelerators of another type.
struct FarStages {
  Cluster cluster;
  std::int64_t stages = 0;  // of the run's pp, fewer than all
  AttentionKernel attention = AttentionKernel::flash2;
};

/// A run as it was asked for.
struct RequestedRun : Run {
  std::vector<std::string> assumptions = {};  // what was not given and how it was filled
  RunRequest given = {};                      // the fields as given, for --save
  std::shared_ptr<const FarStages> far = {};  // null: all stages stand on the run's cluster
};

/// The run with all its stages on the far machine, which there is.
Run on_far_machine(const RequestedRun& run);
/// The machine of the stage whose calls a forecast tells.
const Cluster& machine_of_calls(const RequestedRun& run, bool is_far);

/// Whether a file is meant as a run: a .toml is, and a .json, or the standard input, that names a
/// model.
bool is_run_file(const std::string& path);
/// The fields of a run file, or of a task of MAD-Max for the model that `flags` name. Unknown
/// fields are problems (of make_run); a table [measured] is what was seen of the run
/// (fit/own/runs.hpp) and no field.
Result<RunRequest> read_run_file(const std::string& path, const RunRequest& flags = {});
/// The same from a table of a document; `file` is shown in messages.
Result<RunRequest> run_request_from(const Node& table, const std::string& file);
/// The fields of a run file, where one is named, with flags over them.
Result<RunRequest> read_run_request(const std::string& run_file, const RunRequest& flags);

/// Spreads the layers as is usual for the layout, where the fields given do not say how [STEP-25].
void settle_ends(RequestedRun& run);
/// Splits the experts as the framework does for the layout, where it has a habit and no field given
/// says how.
void settle_experts(RequestedRun& run);

/// Of how many types the accelerators of a run may be.
enum class Types { one, two };

/// The fields that put stages on accelerators of another type; those who read one type alone refuse
/// them.
std::span<const RunField> far_fields();

/// A legal run, or every problem with it.
Result<RequestedRun> make_run(const RunRequest& request, Types types = Types::one);
/// The same without a layout: what of it is given is read, whether it is legal is not asked.
Result<RequestedRun> make_unsplit_run(const RunRequest& request);

/// A run file that make_run reads back into the same run. Model and cluster files are named from
/// the folder of `path`, where the text will be written; empty: the current folder.
std::string run_file_text(const RequestedRun& run, const std::string& path = {});

}  // namespace headway
