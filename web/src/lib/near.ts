// How many measured runs stand behind a range, and how near to them a run is.
import type { PredictDocument } from "./documents";
import { count, number } from "./format";

// Four digits of the ends of each of the three are kept, which is to half a hundredth of a doubling: a run at three
// ends may seem to lie three times that beyond them.
const kAmong = 0.02; // doublings

/** Null where no measured runs tell a range. */
export function nearWords(step: Pick<PredictDocument, "interval_from" | "job">): string | null {
  const from = step.interval_from;
  if (!from) return null;
  const some = (runs: number) => (runs > 0 ? count(runs) : "none");
  const setup = `of ${step.job.framework} on any accelerator of its architecture with as many bits`;
  const both = from.of_framework > 0 && from.on_accelerator > 0;
  const alike = from.of_setup > 0 ? `, ${count(from.of_setup)} ${setup}` : both ? `, but none ${setup}` : "";
  const all =
    `The range is told by ${count(from.runs)} measured runs that the constants had not seen: ` +
    `${some(from.of_framework)} of ${step.job.framework}, ${some(from.on_accelerator)} on this accelerator` +
    alike;
  const far =
    from.doublings_away < kAmong
      ? "This run lies among them in accelerators, parameters and sequence."
      : `This run lies ${number(from.doublings_away)} doublings of accelerators, parameters and sequence beyond them.`;
  return `${all}. ${far}`;
}
