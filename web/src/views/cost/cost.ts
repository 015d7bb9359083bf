// What a whole run costs on several machines beside each other: the fields, the questions, the numbers.
import type { Request } from "../../lib/api";
import { kFirstGroup, kJobGroup, kMoreGroup, kRunGroups, type FieldGroup, type RunField } from "../../lib/run";
import { withoutLayout } from "../../lib/plan";
import type { Fields } from "../../lib/url";
import type { RunDocument } from "../scale/documents";
import { kAssumed, scaleRequest } from "../scale/sweeps";
import { stepInterval } from "../scale/whole";

/** Machines beside the first. */
export const kMostOthers = 3;

export const kFirstCost: Fields = {
  model: "llama-3.1-70b",
  cluster: "dgx-h100",
  gpus: "2048",
  seq: "8192",
  "global-batch": "2048",
  tokens: "2T",
  beside: "dgx-b200",
};

const kTokens: RunField = { name: "tokens", label: "Train on", kind: "text", unit: "tokens, as 2T" };
const kAbout: Readonly<Record<string, string>> = {
  "Energy and money": "What an hour costs, what the building adds, what a kWh emits. Empty: each machine's own.",
  "Failures and checkpoints": "How often something breaks, and what that takes.",
};

/** The fields of the view: the run and its tokens, then what is assumed. */
export const kCostGroups: readonly FieldGroup[] = [
  { ...kFirstGroup, fields: [...kFirstGroup.fields, kTokens] },
  ...kAssumed.filter(({ title }) => kAbout[title]).map((group) => ({ ...group, about: kAbout[group.title]!, folded: true })),
  kJobGroup,
  ...kRunGroups.filter((group) => group !== kFirstGroup && group !== kJobGroup && group !== kMoreGroup),
  kMoreGroup,
];
export const kCostNames: readonly string[] = kCostGroups.flatMap((group) => group.fields.map(({ name }) => name));

export const othersOf = (fields: Fields): string[] => (fields.beside ?? "").split(",").filter((name) => name !== "").slice(0, kMostOthers);

/** The same run on another machine: with a layout of its own. */
export function onOther(fields: Fields, cluster: string): Fields {
  return { ...withoutLayout(fields), cluster };
}

export function costRequest(fields: Fields): Request {
  return scaleRequest({ ...fields, sweep: "run" });
}

/** Money from and to, as the step's interval makes the run longer or shorter. */
export function moneyInterval(run: RunDocument): [number, number] | null {
  const time = stepInterval(run);
  if (!time || run.price_usd === null) return null;
  return [(run.price_usd * time[0]) / run.time_s.total, (run.price_usd * time[1]) / run.time_s.total];
}

/** Which of two runs is cheaper, in a sentence; where their intervals meet, that nobody can say. */
export function cheaper(a: RunDocument, b: RunDocument): string | null {
  if (a.price_usd === null || b.price_usd === null) return null;
  const [low, high] = a.price_usd <= b.price_usd ? [a, b] : [b, a];
  const less = `${(100 * (1 - low.price_usd! / high.price_usd!)).toFixed(0)} %`;
  const [lowTo, highFrom] = [moneyInterval(low)?.[1], moneyInterval(high)?.[0]];
  const sure = lowTo !== undefined && highFrom !== undefined && lowTo < highFrom;
  return `${low.cluster} is cheaper than ${high.cluster} by ${less}${sure ? "" : "; their ranges meet, so it may be the other way round"}.`;
}
