// The step in a few numbers, each with the convention that it follows.
import { Facts } from "../../app/Facts";
import type { PredictDocument } from "../../lib/documents";
import { bytes, count, number, percent, seconds, si } from "../../lib/format";

export function Numbers({ step }: { step: PredictDocument }) {
  const interval = step.interval_step_time_s;
  const attention = step.attention_flops === "full" ? "attention in full" : "causal attention";
  const tokens = step.job.seq * step.job.global_batch;
  const items: [string, string, string][] = [
    [
      "Step time",
      seconds(step.step_time_s),
      interval ? `80 % of unseen runs lay within ${seconds(interval[0])} to ${seconds(interval[1])}` : "no measured runs to judge by",
    ],
    ["Tokens/s", count(step.tokens_per_s), `${number(step.tokens_per_s_per_gpu)} per accelerator`],
    ["MFU", percent(step.mfu), `model FLOPs over peak, no recomputation, ${attention}`],
    ["HFU", percent(step.hfu), "recomputation counted"],
    ["Model FLOP/s", si(step.model_flops_per_s_per_gpu, "FLOP/s"), "per accelerator"],
    [
      "Memory",
      bytes(step.memory_bytes.total),
      `${step.fits ? "fits" : "does not fit"} ${bytes(step.memory_bytes.capacity)}, fullest rank`,
    ],
    ["Energy", si(step.energy_j, "J"), `a step, accelerators only; ${number(step.energy_j / tokens)} J a token`],
    [
      "Parameters",
      si(step.parameters, "").trim(),
      step.active_parameters === step.parameters ? "all active" : `${si(step.active_parameters, "").trim()} active`,
    ],
  ];
  const facts = items.map(([name, value, about]) => ({ name, value, about, bad: name === "Memory" && !step.fits }));
  return <Facts facts={facts} />;
}
