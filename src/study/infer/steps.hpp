// What one step of an engine takes that decodes some sequences and takes in some tokens of prompts:
// what a pass comes to, in a form that is quick enough for millions of them. Internal to
// src/study/infer.
#pragma once

#include <vector>

#include "study/infer/serving.hpp"

namespace headway {

/// Tokens of prompts in one pass of a batch, and of those in a step that the list of tokens ends
/// with: beyond it time is as long as tokens are many.
constexpr std::int64_t kMostTokens = 8192;
/// Sequences that are decoded at a time where nothing else ends.
constexpr double kMostSequences = 1024;

class StepTimes {
 public:
  /// Of prompts of about `input` tokens and answers of `output`.
  StepTimes(const Serving& serving, const ServingConstants& constants, std::int64_t input,
            std::int64_t output);

  /// Of the same serving by an engine whose host takes otherwise.
  void set_host(const Serving& serving);

  const Scheduling& scheduling() const { return scheduling_; }

  /// Seconds: `decoding` sequences with `cached` tokens in all, and `prompt` tokens of prompts.
  double of(double decoding, double cached, double prompt) const;

 private:
  // Between two numbers of tokens of the list.
  double between(const std::vector<double>& seconds, double tokens) const;

  std::vector<double> tokens_;
  std::vector<double> work_;  // seconds of so many tokens: products, passes and calls of all layers
  std::vector<double> head_;  // and of the head, where each is the last of its sequence
  double reading_ = 0, read_token_ = 0;  // seconds of attention over the cache: any, each token
  double prompt_token_ = 0;              // of attention, each token of a prompt
  double kernels_ = 0;                   // that are launched where no graph replays them
  double step_ = 0, sequence_ = 0, gaps_ = 0, launches_ = 0;  // of the host
  Scheduling scheduling_;
};

}  // namespace headway
