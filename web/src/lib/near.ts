// How many measured runs stand behind a range, and how near to them a run is.
import type { PredictDocument } from "./documents";
import { count, number } from "./format";

/** Null where no measured runs tell a range. */
export function nearWords(step: Pick<PredictDocument, "interval_from" | "job">): string | null {
  const from = step.interval_from;
  if (!from) return null;
  const some = (runs: number) => (runs > 0 ? count(runs) : "none");
  const alike = from.of_setup > 0 ? `, ${count(from.of_setup)} of both and as many bits` : ", but none of both and as many bits";
  const all =
    `The range is told by ${count(from.runs)} measured runs that the constants had not seen: ` +
    `${some(from.of_framework)} of ${step.job.framework}, ${some(from.on_accelerator)} on this accelerator` +
    (from.of_framework > 0 && from.on_accelerator > 0 ? alike : "");
  const far =
    from.doublings_away === 0
      ? "This run lies among them in accelerators, parameters and sequence."
      : `This run lies ${number(from.doublings_away)} doublings of accelerators, parameters and sequence beyond them.`;
  return `${all}. ${far}`;
}
