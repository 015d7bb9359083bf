// One engine and its queue: requests go in, and come out answered, step by step.
#pragma once

#include <deque>
#include <limits>
#include <vector>

#include "study/infer/load/load.hpp"
#include "study/infer/load/step_times.hpp"

namespace headway {

struct Request {
  double begin = 0;              // seconds: when it was asked
  double first = -1;             // when its first token came; below 0: not yet
  double end = 0;                // when it left the server
  double input = 0, output = 0;  // tokens
  double hit = 0;                // tokens of its prompt that the cache holds for others already
  double cached = 0;             // tokens in the cache of this server, those among them
  double left = 0;               // tokens of the prompt that are to be computed yet
  double passing = 0;            // of those that are in the step under way
  std::int64_t steps = 0;        // that its other tokens take here, after the first
  std::int64_t after = 0;        // and on the server that it goes to from here
  double a_step = 1;             // tokens that each of these makes in the mean
};

/// [INFER-7] Every step the sequences that decode get their tokens, and prompts, the longest
/// waiting first, what is left of the most tokens of a step. [INFER-18] In a pipeline pieces of one
/// prompt follow each other through the stages; its token comes when the last is through. Where
/// nothing else happens many steps are made at once: each takes longer than the one before by as
/// much.
class Server {
 public:
  /// `room`: tokens that the cache holds.
  Server(const StepTimes& steps, const Policy& policy, double room)
      : steps_(steps), policy_(policy), room_(room) {}

  /// Asked for at `when`; what the server works on it ends first.
  void take(Request request, double when);

  bool busy() const { return sequences() > 0; }
  double now() const { return now_; }  // until when it has worked
  /// The next step, or as many as are alike and begin before `horizon`. Those that are answered.
  std::vector<Request> step(double horizon = std::numeric_limits<double>::infinity());

  /// Tokens of prompts that are to be computed: how long its queue is.
  double to_prefill() const { return to_prefill_; }
  std::size_t sequences() const {
    return waiting_.size() + taken_.size() + emptying_.size() + decoding_.size();
  }
  double most() const { return most_; }  // sequences that it decoded at a time
  std::int64_t put_back() const { return put_back_; }

 private:
  // A prompt whose last pieces are in the stages still.
  struct Emptying {
    double until;  // seconds
    Request request;
  };
  // A sequence that decodes, since a step.
  struct Decoding {
    std::int64_t since, order;
    Request request;
  };
  // The step in which it gets its last token, and its place: so little is moved in a heap.
  struct Ends {
    std::int64_t step;
    std::size_t place;
  };
  // By place where two end at once: the order of a heap's equals is the library's own, and sums
  // over who leaves would differ from it in their last digit.
  static bool later(const Ends& a, const Ends& b) {
    return a.step != b.step ? a.step > b.step : a.place > b.place;
  }

  double needs(const Request& request) const;
  bool looks();
  bool gathers();
  void take_in();
  void put_back_one();
  void decode(Request request);
  std::int64_t steps_alike(std::int64_t decoding, double horizon) const;
  // Tokens of prompts: of a step, and of each way.
  double left_for_prompts(const StepLoad& work) const;
  double left_in_a_way(const StepLoad& work) const;
  std::size_t take_pieces(StepLoad& work);  // how many prompts end with them
  double emptying_time(const Request& request, const StepLoad& work, double seconds) const;
  double next_through() const;
  void decode_those_through();
  void end_prompts(std::size_t ended, const StepLoad& work, double seconds,
                   std::vector<Request>& out);
  std::vector<Request> leave();

  const StepTimes& steps_;
  const Policy& policy_;
  double room_;
  std::deque<Request> waiting_, taken_;  // outside, with room in the cache
  std::vector<Emptying> emptying_;
  std::vector<Ends> decoding_;     // a heap: the first to end on top
  std::vector<Decoding> places_;   // of them
  std::vector<std::size_t> free_;  // among the places
  double now_ = 0, most_ = 0, to_prefill_ = 0;
  // Tokens: spoken for by those that are taken in; cached of those that decode, and those that each
  // step adds.
  double held_ = 0, cached_ = 0, growth_ = 0;
  std::int64_t step_ = 0, order_ = 0, put_back_ = 0;
  std::int64_t since_look_ = 0, gathered_ = 0;  // steps
};

}  // namespace headway
