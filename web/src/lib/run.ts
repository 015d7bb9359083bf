// The fields of a run: how the page asks for each. Which there are comes from Headway's table, help from the
// server's schema.
import type { Request } from "./api";
import { kFields, type FieldName } from "./fields";
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
  /** One sentence: what its fields decide. */
  readonly about?: string;
  readonly fields: readonly RunField[];
  /** Folded away until it is asked for or holds a value. */
  readonly folded?: boolean;
}

/** What the page calls each field, and in what it counts. The compiler refuses a field without one. */
const kWords: Readonly<Record<FieldName, readonly [label: string, unit?: string]>> = {
  model: ["Model"],
  vocab: ["Vocabulary", "tokens"],
  cluster: ["Cluster"],
  slice: ["Slice", "LEVEL=N"],
  "board-power": ["Board power", "as 500 W"],
  "memory-bandwidth": ["Memory bandwidth", "as 2.04 TB/s"],
  network: ["Network between nodes", "class"],
  "network-bandwidth": ["Network bandwidth", "as 50 GB/s"],
  gpus: ["Accelerators"],
  seq: ["Sequence length", "tokens"],
  "global-batch": ["Global batch", "sequences"],
  framework: ["Framework"],
  precision: ["Precision"],
  task: ["Task"],
  optimizer: ["Optimizer"],
  attention: ["Attention kernel"],
  method: ["Method of training"],
  dp: ["Data"],
  tp: ["Tensor"],
  cp: ["Context"],
  pp: ["Pipeline"],
  vpp: ["Virtual stages"],
  ep: ["Expert"],
  etp: ["Tensor in experts"],
  "micro-batch": ["Micro-batch", "sequences"],
  zero: ["ZeRO stage"],
  shard: ["Ranks of one shard"],
  "no-reshard": ["Keep gathered weights"],
  "secondary-shard": ["Ranks of a second copy"],
  "no-sp": ["No sequence parallelism"],
  "keep-gathered": ["Keep gathered inputs"],
  "cp-exchange": ["Context exchange"],
  recompute: ["Recompute"],
  "recompute-pieces": ["Recomputed pieces"],
  "recompute-every": ["Every n-th layer"],
  "recompute-one-in": ["One in n layers recomputed"],
  "recompute-early-stop": ["Stop recomputing early"],
  schedule: ["Schedule"],
  "first-stage-layers": ["Layers, first stage"],
  "last-stage-layers": ["Layers, last stage"],
  "embedding-slots": ["Embedding counts as", "layers"],
  "head-slots": ["Head counts as", "layers"],
  "split-vocabulary": ["Split vocabulary over stages"],
  offload: ["Offload"],
  order: ["Order of ranks"],
  "overlap-gradients": ["Overlap gradients"],
  "overlap-parameters": ["Overlap parameters"],
  "overlap-tensor": ["Overlap tensor calls"],
  "param-dtype": ["Gathered weights"],
  "reduce-dtype": ["Reduced gradients"],
  "quantized-weights": ["8-bit gathered weights"],
  "quantized-gradients": ["4-bit gradients"],
  "bucket-size": ["Bucket of gradients"],
  "padding-mask": ["Padding mask"],
  "fused-loss": ["Fused loss"],
  "loss-metrics": ["Metrics per loss"],
  "overlap-experts": ["Overlap experts"],
  dispatch: ["Dispatch"],
  graphs: ["CUDA graphs"],
  "fused-experts": ["Fused experts"],
  "attention-8-bit": ["8-bit attention"],
  "small-activation-inputs": ["8-bit activation inputs"],
  "small-gradients": ["16-bit gradients"],
  unfused: ["Unfused kernels"],
  "not-causal": ["Not causal"],
  dropout: ["Dropout"],
  "lora-rank": ["Adapter rank"],
  adapters: ["Adapters"],
  document: ["Mean document", "tokens"],
  "expert-imbalance": ["Expert imbalance"],
  software: ["Software of", "year-month"],
  "checked-collectives": ["Checked collectives"],
  "blocking-transfers": ["Blocking transfers"],
  tables: ["Tables of embeddings"],
  "copy-below": ["Copied tables", "below so many rows"],
  "rows-from": ["Tables split by rows", "from so many rows"],
  "table-columns": ["Width of a table's shard", "columns"],
  "table-cache": ["Tables kept on the accelerator", "share of rows"],
  "table-hits": ["Look-ups that find them there", "share"],
  "table-wise-tables": ["Tables that lie table-wise", "places"],
  "column-wise-tables": ["Tables that lie column-wise", "places"],
  "row-wise-tables": ["Tables that lie row-wise", "places"],
  "table-row-wise-tables": ["Tables that lie table-row-wise", "places"],
  "grid-tables": ["Tables that lie in a grid", "places"],
  "data-parallel-tables": ["Tables that are copied", "places"],
  convolutions: ["Split of convolutions"],
  attentions: ["Split of attention"],
  "feed-forwards": ["Split of feed-forward parts"],
  "bottom-mlp": ["Split before the tables"],
  "top-mlp": ["Split behind the tables"],
  interactions: ["Split of what joins features"],
  "expert-mlp": ["Split of a network's experts"],
  "input-rate": ["Samples that can be fed", "a second"],
  "attention-flops": ["MFU counts attention"],
};

// What is asked first, and stands open; the rest is folded away by group, each with a sentence.
const kAskedFirst: readonly FieldName[] = ["model", "cluster", "gpus", "global-batch"];
const kGroupsOfTable: readonly { readonly group: string; readonly title: string; readonly about: string }[] = [
  { group: "Run", title: "Sequence and format", about: "How long a sequence is, which software trains, and in which format it computes." },
  {
    group: "Degrees",
    title: "Layout",
    about: "How the work is split over accelerators. All left empty: the best layout is searched.",
  },
  {
    group: "Memory and schedule",
    title: "Memory and schedule",
    about: "What is kept, recomputed or moved to the host, and the order in which stages work.",
  },
  { group: "More", title: "More", about: "What is rarely said: the software's age, the machine's settings, dropout, adapters." },
];

function fieldOf({ name, ...field }: (typeof kFields)[number]): RunField {
  const [label, unit] = kWords[name];
  return { ...field, name, label, ...(unit ? { unit } : {}) };
}

/** What is trained on what, how many and with which batch: the fields that stand open. */
export const kFirstGroup: FieldGroup = {
  title: "Run",
  fields: kAskedFirst.map((name) => fieldOf(kFields.find((field) => field.name === name)!)),
};
const kFoldedGroups: readonly FieldGroup[] = kGroupsOfTable.map(({ group, title, about }) => ({
  title,
  about,
  folded: true,
  fields: kFields.filter((field) => field.group === group && !kAskedFirst.includes(field.name)).map(fieldOf),
}));

export const kRunGroups: readonly FieldGroup[] = [kFirstGroup, ...kFoldedGroups];
/** The job beside its first fields; and what is rarely said. */
export const kJobGroup = kFoldedGroups[0]!;
export const kMoreGroup = kFoldedGroups[kFoldedGroups.length - 1]!;
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

// What JavaScript alone would take for a number (1e3, 0x10, "") is not one for the engine.
const kPlainNumber = /^-?\d+(\.\d+)?$/;

/** A description of one's own in place of a built-in name: the object that the address carries as JSON. */
export function describedIn(text: string): Readonly<Record<string, unknown>> | null {
  if (!text.startsWith("{")) return null;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null; // the server says what is wrong with it
  }
}

/** How a model or a cluster is called: a description of the reader's own by the name in it. */
export function nameOf(text: string): string {
  const described = describedIn(text);
  if (!described) return text;
  const name = [described.name, described._name_or_path, described.title, described.model_type, described.base].find(
    (each) => typeof each === "string" && each !== "",
  );
  return `own: ${String(name ?? "described")}`;
}

/** A field's text as the server reads it: plain numbers as numbers, switches as true, descriptions as objects.
 * Everything else goes as it stands ("8k", "2,048", "15T"): the engine reads it as on the command line, or says
 * what would be right. */
export function requestValue(field: RunField, text: string): unknown {
  if (field.kind === "switch") return text === "true" || text === "1";
  if (field.kind === "model" || field.kind === "cluster") return describedIn(text) ?? text;
  const numeric = field.kind === "count" || field.kind === "number" || field.name === "zero";
  if (numeric && kPlainNumber.test(text)) return Number(text);
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
