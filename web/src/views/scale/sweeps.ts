// The sweeps of `headway scale`: what each changes, what it asks besides the run, and its first picture.
import type { Request } from "../../lib/api";
import { kRunGroups, runRequest, type FieldGroup, type RunField } from "../../lib/run";
import type { Fields } from "../../lib/url";

export interface Sweep {
  readonly id: string;
  readonly title: string;
  /** What the abscissa counts, with its unit. */
  readonly axis: string;
  /** How it is drawn: powers of two, or names one after the other. */
  readonly scale: "powers" | "names";
  readonly fields: readonly RunField[];
}

const at = (label: string): RunField => ({ name: "at", label, kind: "text" });
const threshold: RunField = { name: "threshold", label: "Little is below", kind: "number", unit: "share of the first" };

export const kSweeps: readonly Sweep[] = [
  {
    id: "strong",
    title: "More accelerators, same batch",
    axis: "accelerators",
    scale: "powers",
    fields: [at("Accelerators, as 32,64,128"), threshold],
  },
  {
    id: "weak",
    title: "More accelerators, batch grows",
    axis: "accelerators",
    scale: "powers",
    fields: [at("Accelerators, as 8,32,128"), threshold],
  },
  {
    id: "model",
    title: "Larger models",
    axis: "model",
    scale: "names",
    fields: [at("Models, as llama-2-7b,llama-2-70b")],
  },
  {
    id: "context",
    title: "Longer sequences",
    axis: "sequence length (tokens)",
    scale: "powers",
    fields: [
      at("Tokens, as 4096,8192"),
      { name: "keep", label: "Keep of a step", kind: "choice", choices: ["tokens", "sequences"] },
    ],
  },
  {
    id: "hardware",
    title: "Generations of hardware",
    axis: "cluster",
    scale: "names",
    fields: [at("Clusters, as dgx-a100-80gb,dgx-h100")],
  },
  {
    id: "network",
    title: "Other networks",
    axis: "factor of the machine's; accelerators of a domain",
    scale: "powers",
    fields: [
      { name: "bandwidth", label: "Bandwidth, factors", kind: "text" },
      { name: "latency", label: "Latency, factors", kind: "text" },
      { name: "domain", label: "Domains, accelerators", kind: "text" },
    ],
  },
  { id: "layout", title: "Degrees of parallelism", axis: "degree", scale: "powers", fields: [at("Degrees, as 2,4,8")] },
];

const kBest: RunField = { name: "best", label: "Best layout at each point", kind: "switch" };
const kTokens: RunField = { name: "tokens", label: "Train on", kind: "text", unit: "tokens, as 15T" };

/** The choice that changes nothing: one run from its first token to its last. */
export const kWholeRun = "run";

export function isWholeRun(fields: Fields): boolean {
  return fields.sweep === kWholeRun;
}

export function sweepOf(fields: Fields): Sweep {
  return kSweeps.find(({ id }) => id === fields.sweep) ?? kSweeps[0]!;
}

/** The run that the view shows where the address names none: the scaling study's. */
export const kFirstSweep: Fields = {
  sweep: "strong",
  model: "llama-2-7b",
  cluster: "dgx-h100",
  gpus: "32",
  seq: "4096",
  "global-batch": "1024",
  framework: "fsdp",
  "no-reshard": "true",
};

/** The same of a whole run: Llama 3.1 405B as it was trained (docs/scaling.md). */
export const kFirstWhole: Fields = {
  sweep: kWholeRun,
  tokens: "15.6T",
  model: "llama-3.1-405b",
  cluster: "dgx-h100",
  gpus: "16384",
  seq: "8192",
  "global-batch": "2048",
  tp: "8",
  pp: "16",
  vpp: "7",
  zero: "2",
};

// What is taken of machines, of failures and of the law of loss: each has a default with a source.
export const kAssumed: readonly FieldGroup[] = [
  {
    title: "Energy and money",
    fields: [
      { name: "price", label: "Price", kind: "number", unit: "US dollars an hour" },
      { name: "pue", label: "PUE", kind: "number" },
      { name: "carbon", label: "Carbon", kind: "number", unit: "kg CO2 a kWh" },
    ],
  },
  {
    title: "Failures and checkpoints",
    fields: [
      { name: "mtbf", label: "Between interruptions", kind: "text", unit: "of one" },
      { name: "restart", label: "Restart", kind: "text", unit: "as 10 min" },
      { name: "interval", label: "Between checkpoints", kind: "text", unit: "as 30 min" },
      { name: "checkpoint-bandwidth", label: "Storage", kind: "text", unit: "as 30 GB/s" },
      { name: "checkpoint-blocking", label: "Checkpoint stops", kind: "text", unit: "as 5 s" },
      { name: "checkpoint-size", label: "Checkpoint", kind: "text", unit: "as 2 TB" },
      { name: "hardware-share", label: "Broken nodes", kind: "number", unit: "share" },
      { name: "repair", label: "Repair", kind: "text", unit: "as 24 h" },
      { name: "spares", label: "Spare nodes", kind: "count" },
      { name: "step-noise", label: "Spread of steps", kind: "number", unit: "as 0.01" },
    ],
  },
  {
    title: "Loss and batch",
    fields: [
      { name: "loss-law", label: "Law of loss", kind: "choice", choices: ["besiroglu", "hoffmann"] },
      { name: "critical-batch", label: "Critical batch", kind: "text", unit: "tokens" },
    ],
  },
];
const folded = (group: FieldGroup): FieldGroup => ({ ...group, folded: true });
const [kMoney, ...kMoreAssumed] = kAssumed as [FieldGroup, ...FieldGroup[]];

/** Everything that the view asks, in the order of its form: what the sweep changes, or what the whole run
 * is trained on; the run; what is assumed of it. */
export function scaleGroups(fields: Fields): FieldGroup[] {
  if (isWholeRun(fields)) {
    return [{ title: "Whole run", fields: [kTokens] }, kMoney, ...kMoreAssumed.map(folded), ...kRunGroups];
  }
  const sweep: FieldGroup = { title: "Sweep", fields: [...sweepOf(fields).fields, kBest, kTokens] };
  return [sweep, ...kRunGroups, ...kAssumed.map(folded)];
}

/** The request of the view's fields. What another sweep asked stays in the address, so that coming back
 * finds it, and is not asked. */
export function scaleRequest(fields: Fields): Request {
  const sweep = isWholeRun(fields) ? kWholeRun : sweepOf(fields).id;
  const asked = scaleGroups(fields).flatMap((group) => group.fields);
  return { sweep, ...runRequest(fields, asked) };
}
