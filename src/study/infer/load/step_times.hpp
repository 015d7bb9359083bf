// What one step of an engine takes that decodes some sequences and takes in some tokens of prompts,
// in a form that is quick enough for millions of them.
#pragma once

#include <memory>
#include <vector>

namespace headway {

/// What is done in one step, by all copies and micro-batches under way together.
struct StepLoad {
  double decoding = 0, cached = 0;  // sequences, and tokens cached of all of them
  double prompt = 0;                // tokens of prompts
  double prompts = 0;               // of which so many begin in this step
  double pairs = 0;  // of prompts: the sum over them of (end² - begin²), places in their prompts
  double piece = 0;  // most tokens of one prompt in one micro-batch
};

/// [INFER-9] Seconds of the parts of a step; made by step_times() (study/infer/steps.hpp).
struct StepTimes {
  std::vector<double> tokens;          // of the lists below, rising
  std::vector<double> work;            // so many tokens: products, passes and calls of all layers
  std::vector<double> head;            // and of the head, where each is the last of its sequence
  double reading = 0, read_token = 0;  // of attention over the cache: any, each token
  double pair = 0;                     // of attention of prompts, each of `pairs`
  double kernels = 0;                  // that are launched where no graph replays them
  double step = 0, sequence = 0, gaps = 0, launches = 0;  // of the host
  double eager = 0;  // [INFER-41] and of a step that decodes its launches, where no graph replays
  double begin = 0, token = 0;  // of the host: of each prompt that begins, of each of its tokens
  /// [INFER-18] Of a pipeline, each with a micro-batch under way, and copies of attention that pass
  /// together.
  double stages = 1, copies = 1;
  // [INFER-16] Speculation: tokens of a sequence that a pass checks, and what guesses them.
  double checked = 1;
  double guesses = 0;  // passes of the draft in a step
  std::shared_ptr<const StepTimes> draft{};

  /// Micro-batches of a step: each has its share of the sequences, and no less than one piece.
  double ways() const { return stages * copies; }
  double of(const StepLoad& work_done) const;
  /// [INFER-18] Seconds from the end of a step that took `seconds` until the last of so many
  /// pieces of one prompt, which entered one after another, has left the last stage. A line of
  /// stages takes a stage's part of each piece, and of the longest the other stages' as well.
  /// `last`, `longest`: passes of the last piece and of the longest one.
  double emptying(double seconds, double pieces, double last, double longest) const;
};

}  // namespace headway
