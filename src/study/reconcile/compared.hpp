// A run beside its recording, with the verdict.
#pragma once

#include "run/run.hpp"
#include "study/reconcile/verdict.hpp"

namespace headway {

struct Compared {
  RequestedRun run;
  Recording recording;
  Reconciliation reconciliation;
  Verdict verdict;
};

/// `steps`: optimiser steps in the recording; 0: to be found out.
Result<Compared> compare(const RequestedRun& run, Recording recording, double steps = 0);

}  // namespace headway
