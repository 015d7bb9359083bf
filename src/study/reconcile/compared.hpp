// The comparison of expected with measured calls, as documents. Internal to src/api.
#pragma once

#include <string>
#include <vector>

#include "run/run.hpp"
#include "study/reconcile/verdict.hpp"

namespace headway {

struct Compared {
  Run run;
  Recording recording;
  Reconciliation reconciliation;
  Verdict verdict;
};

std::string compared_text(const Compared& compared);  // 80 columns
std::string compared_json(const Compared& compared);
std::string compared_csv(const Compared& compared);

}  // namespace headway
