// Files of measured serving, as tests write them.
#pragma once

#include <string>
#include <vector>

#include "fit/serving/asked.hpp"

namespace headway::testing {

inline const std::string kServedColumns =
    "id,source_key,source,model,model_params_b,accelerator,n_accel,tp,pp,ep,dp,precision_weights,"
    "precision_kv,engine,engine_version,batch,input_len,output_len,request_rate,ttft_s,tpot_s,"
    "latency_s,throughput_output_tok_s,throughput_total_tok_s,memory_gb,oom,notes\n";

inline Csv table_of(const std::string& rows) {
  return *parse_csv(kServedColumns + rows, "serving.csv");
}

inline std::vector<ServedRow> predicted(const std::string& rows) {
  const auto out = predict_serving(table_of(rows));
  return out ? *out : std::vector<ServedRow>();
}

}  // namespace headway::testing
