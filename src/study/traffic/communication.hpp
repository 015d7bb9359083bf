// The communication study: what each form of parallelism sends when models of several sizes train
// on one cluster, after Anthony et al., arXiv 2408.10197; data/runs/studies.toml says which.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "study/traffic/traffic.hpp"

namespace headway {

/// What is varied: the ZeRO stage, the degree of one form of parallelism alone, the sequence
/// length; or a layout of all three forms. overhead: the form, on the same ranks with the same
/// batch; growth: ranks, each with as much of the batch; interconnect: the cluster under the layout
/// of all three.
enum class StudyPart : std::uint8_t {
  data,
  tensor,
  pipeline,
  combined,
  sequence,
  overhead,
  growth,
  interconnect
};
constexpr std::array<std::string_view, 8> kStudyPartNames = {
    "data", "tensor", "pipeline", "combined", "sequence", "overhead", "growth", "interconnect"};

/// One run of the study.
struct StudiedRun {
  StudyPart part;
  std::string model;
  std::string cluster;
  std::int64_t sequence = 0;
  Layout layout;
  Bytes weights;  // m: of the whole model in 16 bit
  Seconds step_time;
  double tokens_per_second_per_accelerator = 0;
  Seconds bubble;
  bool fits = false;
  std::vector<TrafficCall> calls;  // of the mean of all ranks

  double calls_per_second() const;
};

/// One model: the sizes and counts that follow from its shape, as the framework's calls have them.
struct StudiedModel {
  std::string model;
  double parameters = 0;
  Bytes weights;                // m, 2 B a parameter
  Bytes gradient_wire;          // of a rank and step, 8 ranks that reduce gradients by all-reduce
  double gradient_calls = 0;    // at ZeRO-1
  Bytes activation;             // b s h: one message between stages
  double layer_reductions = 0;  // all-reduces of tensor parallelism in layers, a micro-batch
  double all_reductions = 0;    // with those of embedding, head and loss
  Bytes reduced;                // bytes of those in layers
  Bytes boundary;               // over a boundary between stages for a micro-batch, both ways
  double attention_parameters = 0;  // attention's share of all
  double attention_flops = 0;       // and of a forward pass over 2,048 tokens, scores in full
};

struct CommunicationStudy {
  std::string title;     // what was trained, where and with what
  std::string software;  // how its makers call the framework as they use it
  Cluster cluster;
  std::vector<StudiedModel> models;
  std::vector<StudiedRun> runs;  // in the order of the parts; layouts that are illegal are left out
};

/// All runs of the study; a fraction of a second.
Result<CommunicationStudy> communication_study();

/// Of the run's calls: the message size at the given share of all calls, sorted by size (0.5: the
/// median).
Bytes size_at(const std::vector<TrafficCall>& calls, double share);

/// Bytes on the wire of the operation; of the group.
Bytes wire_of(const std::vector<TrafficCall>& calls, CollectiveOp op);
Bytes wire_of(const std::vector<TrafficCall>& calls, Group group);

/// "ZeRO-3", "tensor 4", "pipeline 8", "all three".
std::string form_of(const StudiedRun& run);

}  // namespace headway
