// The sweeps of `headway scale`: what each changes, what it asks besides the run, and its first picture.
import type { Request } from "../../lib/api";
import { kRunFields, requestValue, runRequest, type FieldGroup, type RunField } from "../../lib/run";
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
const kTokens: RunField = { name: "tokens", label: "Train on", kind: "text", unit: "tokens, as 1T" };

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

/** What a sweep asks besides the run. */
export function sweepGroup(sweep: Sweep): FieldGroup {
  return { title: "Sweep", fields: [...sweep.fields, kBest, kTokens] };
}

/** The request of the view's fields. What another sweep asked stays in the address, so that coming back
 * finds it, and is not asked. */
export function sweepRequest(fields: Fields): Request {
  const sweep = sweepOf(fields);
  const request: Record<string, unknown> = { sweep: sweep.id };
  for (const field of sweepGroup(sweep).fields) {
    const text = fields[field.name];
    if (text !== undefined && text !== "") request[field.name] = requestValue(field, text);
  }
  return { ...request, ...runRequest(fields, kRunFields) };
}
