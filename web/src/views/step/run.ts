// What the forecast says of its pipeline as a whole.
import type { PredictDocument } from "../../lib/documents";

/** What the forecast says the pipeline takes: the pace stage's micro-batches, its transfers and its
 * idle time. */
export function pipelineTime(step: PredictDocument): number {
  const pace = step.pipeline.stages.find((each) => each.sets_pace) ?? step.pipeline.stages[0]!;
  const one = pace.forward_s + pace.backward_s + pace.transfers_s;
  return one * step.layout.micro_batches + step.parts_s.bubble;
}
