// The pipeline of a forecast as the timeline's rules read it.
import type { PredictDocument } from "../../lib/documents";
import type { PipelineRun } from "../../lib/timeline";

export function pipelineOf(step: PredictDocument): PipelineRun {
  const classes = step.pipeline.stages;
  return {
    stages: classes.flatMap((each) =>
      Array.from({ length: each.stages }, () => ({
        forward: each.forward_s,
        backward: each.backward_s,
        weightGradient: each.weight_gradient_s,
      })),
    ),
    schedule: step.layout.schedule,
    chunks: step.layout.vpp,
    microBatches: step.layout.micro_batches,
    send: step.pipeline.send_s,
    // Plain 1F1B and GPipe wait for each transfer; others transfer while another chunk computes.
    blocking: step.layout.vpp === 1 && (step.layout.schedule === "1f1b" || step.layout.schedule === "gpipe"),
  };
}

/** What the forecast says the pipeline takes: the pace stage's micro-batches, its transfers and the
 * idle time of the closed form. */
export function pipelineTime(step: PredictDocument): number {
  const pace = step.pipeline.stages.find((each) => each.sets_pace) ?? step.pipeline.stages[0]!;
  const one = pace.forward_s + pace.backward_s + pace.transfers_s;
  return one * step.layout.micro_batches + step.parts_s.bubble;
}
