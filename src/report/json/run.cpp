#include "report/json/run.hpp"

namespace headway {

Json run_layout_json(const Run& run) {
  const Layout& layout = run.layout;
  Json offload = Json::array();
  if (layout.offload_optimizer) offload.push_back("optimizer");
  if (layout.offload_activations) offload.push_back("activations");
  if (layout.offload_parameters) offload.push_back("parameters");
  std::string order;
  for (const Dimension dimension : layout.order) {
    if (!order.empty()) order += '-';
    order += kDimensionNames[static_cast<int>(dimension)];
  }
  return {{"gpus", layout.ranks()},
          {"dp", layout.dp},
          {"tp", layout.tp},
          {"cp", layout.cp},
          {"pp", layout.pp},
          {"vpp", layout.vpp},
          {"ep", layout.ep},
          {"etp", layout.etp},
          {"micro_batch", layout.micro_batch},
          {"micro_batches", micro_batches(run.job, layout)},
          {"zero", layout.zero},
          {"shard", layout.shard > 0 ? Json(layout.shard) : Json(nullptr)},
          {"sequence_parallel", layout.sequence_parallel && layout.tp > 1},
          {"cp_exchange", kContextExchangeNames[static_cast<int>(layout.context_exchange)]},
          {"recompute", kRecomputeNames[static_cast<int>(layout.recompute)]},
          {"recompute_every", layout.recompute_every},
          {"schedule", kScheduleNames[static_cast<int>(layout.schedule)]},
          {"offload", offload},
          {"order", order}};
}

Json run_job_json(const Run& run) {
  const Job& job = run.job;
  return {{"task", kTaskNames[static_cast<int>(job.task)]},
          {"framework", kFrameworkNames[static_cast<int>(job.framework)]},
          {"seq", job.sequence},
          {"global_batch", job.global_batch},
          {"precision", job.recipe->name},
          {"optimizer", kOptimizerNames[static_cast<int>(job.optimizer)]},
          {"attention", kAttentionKernelNames[static_cast<int>(job.attention)]}};
}

Json parts_json(const Parts& parts) {
  return {{"compute", parts.compute.value()}, {"tp", parts.tp.value()},
          {"cp", parts.cp.value()},           {"ep", parts.ep.value()},
          {"pp", parts.pp.value()},           {"dp", parts.dp.value()},
          {"bubble", parts.bubble.value()},   {"optimizer", parts.optimizer.value()},
          {"other", parts.other.value()}};
}

}  // namespace headway
