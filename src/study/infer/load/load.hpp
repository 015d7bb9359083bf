// Requests to a server, and how its engine takes them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/quantity.hpp"

namespace headway {

/// When requests come: all at once, as one batch that starts and ends together; from clients, of
/// which each sends its next one when the last is answered; at random moments (Poisson); at those
/// of a file.
enum class Arrivals : std::uint8_t { together, clients, random, listed };

/// How lengths lie about the nominal one. share: evenly from this share of it up to it; normal,
/// log_normal: it is their mean, `of` the deviation over the mean.
struct LengthSpread {
  enum class Kind : std::uint8_t { share, normal, log_normal } kind = Kind::share;
  double of = 1;

  /// Over the nominal one.
  double mean() const { return kind == Kind::share ? (1 + of) / 2 : 1; }
  /// The mean of squares over the square of the mean.
  double squares() const {
    const double deviation = kind == Kind::share ? (1 - of) / std::sqrt(12.0) / mean() : of;
    return 1 + deviation * deviation;
  }
};

/// A request of a file.
struct Listed {
  double arrival = 0;                  // seconds
  std::int64_t input = 0, output = 0;  // tokens
};

/// Requests to each copy of attention.
struct Load {
  std::int64_t input = 0, output = 0;  // tokens, nominal; of a file the mean
  Arrivals arrivals = Arrivals::together;
  std::int64_t batch = 1;                        // sequences, or clients
  double rate = 0;                               // random: requests a second
  LengthSpread input_spread{}, output_spread{};  // of clients and random
  std::int64_t longest = 0;                      // tokens of a sequence at most; 0: any
  double prefix_hit = 0;  // share of a prompt that the cache holds already, 0 up to 1
  std::int64_t count =
      0;  // requests placed in time; 0: ten of a client, 2,000 others, a whole file
  std::optional<Seconds> first_limit{}, each_limit{};  // what a good answer keeps to
  double good_share = 0;  // of the best: of whose answers so many are good, beside the mean
  /// Lengths in turn, and where arrivals are listed their moments, in order.
  std::shared_ptr<const std::vector<Listed>> listed{};

  /// [INFER-5] Tokens of a sequence under way that are cached, in the mean: half of its answer;
  /// long ones are there for longer.
  double under_way() const {
    return static_cast<double>(input) * input_spread.mean() +
           static_cast<double>(output) * output_spread.mean() * output_spread.squares() / 2;
  }

  /// Whether a file says how long requests are, not only when they come.
  bool lists_lengths() const { return listed != nullptr && listed->front().input > 0; }
  /// Tokens of the longest request that is told, with its answer; and of the longest prompt.
  double longest_told() const {
    return most(input + output, [](const Listed& each) { return each.input + each.output; });
  }
  double longest_prompt() const {
    return most(input, [](const Listed& each) { return each.input; });
  }
  /// Whether requests come of themselves, whoever has been answered.
  bool comes() const { return arrivals == Arrivals::random || arrivals == Arrivals::listed; }
  /// Whether requests are of one length, so that clients who began together stay in step.
  bool is_alike() const {
    return listed == nullptr && input_spread.squares() == 1 && output_spread.squares() == 1;
  }
  bool has_limits() const { return first_limit || each_limit; }
  /// Whether times keep to what a good answer does.
  bool keeps_to_limits(Seconds first_token, Seconds each_token) const {
    return (!first_limit || first_token <= *first_limit) &&
           (!each_limit || each_token <= *each_limit);
  }

 private:
  template <class Of>
  double most(std::int64_t usual, const Of& of) const {
    if (lists_lengths()) {
      for (const Listed& each : *listed) usual = std::max<std::int64_t>(usual, of(each));
    }
    return static_cast<double>(usual);
  }
};

/// [INFER-10] How an engine fills its steps (data/serving/engines.toml).
struct Policy {
  std::int64_t most_tokens = 8192;     // in one step, of prompts and decoded
  std::int64_t most_sequences = 1024;  // that it works on at a time
  /// Prompts first, in steps of their own; else beside what is decoded, in pieces.
  bool prompts_first = false;
  bool whole_prompts = false;  // none is cut over steps, the longest ones alone in theirs
  std::int64_t polls = 1;      // steps that decode from one look at new requests to the next
  /// Steps that decode while a prompt is there before it is in one, unless such a step would have
  /// this share of its most tokens (TensorRT-LLM's batch_wait_timeout_iters and
  /// batch_wait_max_tokens_ratio).
  std::int64_t gathers = 0;
  double gathered = 1;
  /// A request is taken in once the cache has room for all of it; else for its prompt, and whoever
  /// came last goes out again, to be computed anew, when the cache is full.
  bool reserve = true;
  std::int64_t block = 1;  // tokens of a block of the cache

  /// Of `ways` that pass together, with `checked` tokens of each sequence in a step: a step has
  /// room for all that decode, unless its tokens are of prompts alone.
  double most_at_a_time(double ways, double checked) const {
    const double sequences = static_cast<double>(std::max<std::int64_t>(1, most_sequences));
    const double tokens = std::max(1.0, static_cast<double>(most_tokens) * ways / checked);
    return prompts_first ? sequences : std::min(sequences, tokens);
  }
};

/// Tokens that the blocks of so many tokens hold.
constexpr double in_blocks(double tokens, std::int64_t block) {
  const auto whole = static_cast<std::int64_t>(tokens);
  const std::int64_t up = whole + (static_cast<double>(whole) < tokens ? 1 : 0);
  return static_cast<double>((up + block - 1) / block * block);
}

/// Of room for so many tokens what is of whole blocks.
inline double whole_blocks(double tokens, std::int64_t block) {
  const double each = static_cast<double>(block);
  return block > 1 ? std::floor(tokens / each) * each : tokens;
}

}  // namespace headway
