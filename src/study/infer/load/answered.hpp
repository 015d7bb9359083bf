// Requests placed in time: who asks when, and what comes of it.
#pragma once

#include <vector>

#include "study/infer/load/server.hpp"

namespace headway {

/// Drafting of the next tokens that the model then checks in one pass: `length` of them, of which
/// each is right with the same chance where all before it are.
struct Drafting {
  double chance = 0;
  std::int64_t length = 0;  // 0: none are made

  /// [INFER-16] Tokens that a pass makes in the mean: (1 - c^(g+1))/(1 - c).
  double made() const;
};

/// One engine, as requests see it.
struct Engined {
  const StepTimes& steps;
  const Policy& policy;
  double room = 0;  // tokens that its cache holds
  Drafting guesses{};
};

struct Answered {
  // Seconds, of each request as it ends; each_token: NaN of an answer of one token, which has none.
  std::vector<double> begin, first_token, each_token, latency;
  Seconds elapsed;                 // until the last is answered
  double tokens = 0, prompts = 0;  // made in all, and asked with
  double most = 0;                 // sequences at a time in one engine
  double put_back = 0;             // times that a sequence was put back
};

/// Requests a second while every client has one, until the last is asked: what comes behind, when
/// ever fewer are there, is no part of it.
double steady_rate(const Answered& by);

constexpr std::int64_t kRequestsOfClient = 10, kRandomRequests = 2000;

/// [INFER-7] Of one copy of attention.
Answered answered(const Engined& engine, const Load& load);

/// Prefill and decode on accelerators of their own.
struct Apart {
  Engined prefill, decode;
  std::int64_t prefill_copies = 1, decode_copies = 1;
  double move_token = 0;   // seconds that a token's cache takes from one copy to the other
  double move_start = 0;   // and any
  double exposed = 1;      // share of it that a request waits for
  std::int64_t lanes = 1;  // of one copy of prefill: so many move at a time
};

/// [INFER-19] The load is of all copies together. A prompt goes to the copy of prefill with least
/// to do, its cache, once it is all there, over the links of that copy, one after another, to the
/// copy of decode with the fewest sequences.
Answered answered(const Apart& apart, const Load& load);

}  // namespace headway
