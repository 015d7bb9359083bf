// The fields of a run: how the page asks for each. Help and legal values come from the server's schema.
import type { Request } from "./api";
import type { Fields } from "./url";

export type FieldKind =
  | "model" // a built-in name
  | "cluster" // a built-in name
  | "count" // a whole number
  | "number"
  | "choice" // one of the schema's values
  | "switch" // true or absent
  | "text"; // anything, as on the command line

export interface RunField {
  readonly name: string;
  readonly label: string;
  readonly kind: FieldKind;
  /** Legal values, where the schema lists none. */
  readonly choices?: readonly string[];
  readonly unit?: string;
}

export interface FieldGroup {
  readonly title: string;
  readonly fields: readonly RunField[];
  /** Folded away until it is asked for or holds a value. */
  readonly folded?: boolean;
}

const count = (name: string, label: string, unit?: string): RunField => ({
  name,
  label,
  kind: "count",
  ...(unit ? { unit } : {}),
});
const choice = (name: string, label: string, ...choices: string[]): RunField => ({ name, label, kind: "choice", choices });
const flag = (name: string, label: string): RunField => ({ name, label, kind: "switch" });
const onOff = (name: string, label: string) => choice(name, label, "on", "off");

/** What is trained, and on what. */
export const kJobGroup: FieldGroup = {
  title: "Run",
  fields: [
    { name: "model", label: "Model", kind: "model" },
    { name: "cluster", label: "Cluster", kind: "cluster" },
    count("gpus", "Accelerators"),
    count("seq", "Sequence length", "tokens"),
    count("global-batch", "Global batch", "sequences"),
    choice("precision", "Precision", "bf16", "fp32", "tf32", "fp16", "fp8", "fp8-current", "fp8-block", "mxfp8", "fp4"),
    choice("framework", "Framework", "megatron", "fsdp", "deepspeed", "nanotron", "jax"),
  ],
};

export const kDegreesGroup: FieldGroup = {
  title: "Degrees",
  fields: [
    count("dp", "Data"),
    count("tp", "Tensor"),
    count("cp", "Context"),
    count("pp", "Pipeline"),
    count("vpp", "Virtual stages"),
    count("ep", "Expert"),
    count("etp", "Tensor in experts"),
    count("micro-batch", "Micro-batch", "sequences"),
    choice("zero", "ZeRO stage", "0", "1", "2", "3"),
  ],
};

export const kMemoryGroup: FieldGroup = {
  title: "Memory and schedule",
  fields: [
    choice("recompute", "Recompute", "none", "selective", "full"),
    count("recompute-every", "Every n-th layer"),
    choice("schedule", "Schedule", "1f1b", "gpipe", "zero-bubble", "zero-bubble-v", "dual-pipe"),
    { name: "offload", label: "Offload", kind: "text" },
    flag("no-sp", "No sequence parallelism"),
    flag("no-reshard", "Keep gathered weights"),
    onOff("overlap-gradients", "Overlap gradients"),
    onOff("overlap-parameters", "Overlap parameters"),
    onOff("overlap-tensor", "Overlap tensor calls"),
  ],
};

export const kMoreGroup: FieldGroup = {
  title: "More",
  folded: true,
  fields: [
    count("vocab", "Vocabulary", "tokens"),
    choice("task", "Task", "pretrain", "finetune", "lora"),
    choice("optimizer", "Optimizer", "adamw", "adam", "sgd", "adafactor", "muon", "adam-8bit"),
    choice("attention", "Attention kernel", "unfused", "flash1", "flash2", "flash3", "triton"),
    choice("attention-flops", "MFU counts attention", "full", "causal"),
    choice("cp-exchange", "Context exchange", "ring", "all-to-all"),
    count("shard", "Ranks of one shard"),
    { name: "order", label: "Order of ranks", kind: "text" },
    { name: "recompute-pieces", label: "Recomputed pieces", kind: "text" },
    onOff("recompute-early-stop", "Stop recomputing early"),
    count("first-stage-layers", "Layers, first stage"),
    count("last-stage-layers", "Layers, last stage"),
    count("embedding-slots", "Embedding counts as", "layers"),
    count("head-slots", "Head counts as", "layers"),
    choice("param-dtype", "Gathered weights", "bf16", "fp32"),
    choice("reduce-dtype", "Reduced gradients", "bf16", "fp32"),
    onOff("fused-loss", "Fused loss"),
    count("loss-metrics", "Metrics per loss"),
    onOff("overlap-experts", "Overlap experts"),
    choice("dispatch", "Dispatch", "copies", "once"),
    choice("graphs", "CUDA graphs", "none", "dense", "step"),
    { name: "expert-imbalance", label: "Expert imbalance", kind: "number" },
    { name: "dropout", label: "Dropout", kind: "number" },
    count("lora-rank", "Adapter rank"),
    choice("adapters", "Adapters", "all", "query-key-value"),
    count("document", "Mean document", "tokens"),
    { name: "software", label: "Software of", kind: "text", unit: "year-month" },
    flag("keep-gathered", "Keep gathered inputs"),
    flag("padding-mask", "Padding mask"),
    flag("fused-experts", "Fused experts"),
    flag("attention-8-bit", "8-bit attention"),
    flag("small-gradients", "16-bit gradients"),
    flag("unfused", "Unfused kernels"),
    flag("not-causal", "Not causal"),
    flag("checked-collectives", "Checked collectives"),
    flag("blocking-transfers", "Blocking transfers"),
  ],
};

export const kRunGroups: readonly FieldGroup[] = [kJobGroup, kDegreesGroup, kMemoryGroup, kMoreGroup];
export const kRunFields: readonly RunField[] = kRunGroups.flatMap((group) => group.fields);
export const kRunNames: readonly string[] = kRunFields.map((field) => field.name);

/** The run that a view shows where the address names none. */
export const kFirstRun: Fields = {
  model: "llama-3.1-70b",
  cluster: "dgx-h100",
  gpus: "64",
  seq: "8192",
  "global-batch": "128",
};

/** A field's text as the server reads it: counts as numbers, switches as true. What is no number goes
 * as it stands: the server says what would be right. */
export function requestValue(field: RunField, text: string): unknown {
  if (field.kind === "switch") return text === "true" || text === "1";
  const numeric = field.kind === "count" || field.kind === "number" || field.name === "zero";
  if (numeric && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  return text;
}

/** The request of a run from the fields of the address; fields of others are left out. */
export function runRequest(fields: Fields, known: readonly RunField[] = kRunFields): Request {
  const request: Record<string, unknown> = {};
  for (const field of known) {
    const text = fields[field.name];
    if (text !== undefined && text !== "") request[field.name] = requestValue(field, text);
  }
  return request;
}

/** "--dp 32 --overlap-tensor on --no-sp" as fields of the address. */
export function fieldsOfFlags(flags: string): Fields {
  const fields: Record<string, string> = {};
  const words = flags.split(/\s+/).filter((word) => word !== "");
  for (let i = 0; i < words.length; ++i) {
    const name = words[i]!.replace(/^--/, "");
    const next = words[i + 1];
    if (next === undefined || next.startsWith("--")) fields[name] = "true";
    else {
      fields[name] = next;
      i += 1;
    }
  }
  return fields;
}

/** The same run as a line of the command line. */
export function commandLine(command: string, request: Request): string {
  const quoted = (text: string) => (/^[\w.,:%/=+@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const words = ["headway", command];
  for (const [name, value] of Object.entries(request)) {
    if (value === false) continue;
    words.push(`--${name}`);
    if (value === true) continue;
    const values = Array.isArray(value) ? value : [value];
    for (const each of values) words.push(quoted(typeof each === "object" ? JSON.stringify(each) : String(each)));
  }
  return words.join(" ");
}
