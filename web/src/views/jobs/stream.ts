// A stream of jobs: the fields of the view, and the description that they make, as `headway jobs STREAM.toml` reads it.
import type { Problem, Request } from "../../lib/api";
import { requestValue, type FieldGroup, type FieldKind, type RunField } from "../../lib/run";
import type { Fields } from "../../lib/url";

/** A field, and where what it says stands in the description: "arrivals.intervals". `list`: between commas. */
interface StreamField extends RunField {
  readonly path: string;
  readonly list?: boolean;
}

const field = (name: string, label: string, path: string, kind: FieldKind, more: Partial<StreamField> = {}): StreamField => ({
  name,
  label,
  path,
  kind,
  ...more,
});

const kOn = field("on", "Machine", "", "choice", { choices: ["ramp", "cluster"] });

const kStream: readonly StreamField[] = [
  field("policies", "Policies", "policies", "text", { list: true, unit: "as max,cheapest" }),
  field("loads", "A job each", "arrivals.intervals", "text", { list: true, unit: "as 600 s,1000 s" }),
  field("arrivals", "Arrivals", "arrivals.kind", "choice", { choices: ["fixed", "poisson"] }),
  field("jobs", "Jobs of a stream", "arrivals.jobs", "count"),
  field("horizon", "or until", "arrivals.horizon", "text", { unit: "as 1000000 s" }),
  field("seeds", "Streams of each load", "seeds", "count"),
];
const kLimits: readonly StreamField[] = [
  field("least", "At least", "limits.least", "number", { unit: "of the time alone" }),
  field("most", "At most", "limits.most", "number", { unit: "of the time alone" }),
  field("law", "Drawn by", "limits.law", "text", { list: true, unit: "as uniform,skew-5" }),
];
const kRamp: readonly StreamField[] = [
  field("groups", "Groups", "machine.groups", "count"),
  field("racks", "Racks", "machine.racks", "count"),
  field("places", "Servers of a rack", "machine.places", "count"),
  field("node-bandwidth", "Bandwidth of a server", "machine.node_bandwidth", "text", { unit: "as 1.6 TB/s" }),
  field("memory", "Memory of a server", "machine.memory", "text", { unit: "as 80 GB" }),
  field("job-steps", "Steps of a job", "machine.steps", "count"),
  field("most-degree", "Split at most", "machine.most_degree", "count", { unit: "servers" }),
  field("as-published", "Quirks of PAC-ML's code", "as_published", "switch"),
];
const kCluster: readonly StreamField[] = [
  field("cluster", "Cluster", "machine.cluster", "cluster"),
  field("nodes", "Nodes", "machine.nodes", "count"),
  field("gpus-per-node", "Accelerators of a node", "machine.gpus_per_node", "count"),
];

/** What fields that are left empty come to, as docs/jobs.md has it. */
export const kJobsTaken: Fields = {
  on: "ramp",
  arrivals: "fixed",
  jobs: "200",
  seeds: "3",
  least: "0.1",
  most: "1",
  law: "uniform",
  groups: "4",
  racks: "4",
  places: "2",
  "node-bandwidth": "1.6 TB/s",
  memory: "80 GB",
  "job-steps": "50",
  "most-degree": "16",
  nodes: "16",
  "gpus-per-node": "8",
};

/** Kinds of jobs on a cluster. */
export const kKinds = 2;
const kindFields = (i: number): readonly StreamField[] => [
  field(`model${i}`, "Model", "run.model", "model"),
  field(`steps${i}`, "Steps", "steps", "count"),
  field(`nodes${i}`, "Nodes that it may have", "nodes", "text", { list: true, unit: "as 1,2,4" }),
  field(`seq${i}`, "Sequence length", "run.seq", "text", { unit: "tokens" }),
  field(`batch${i}`, "Global batch", "run.global-batch", "text", { unit: "sequences" }),
  field(`tp${i}`, "Tensor", "run.tp", "count"),
  field(`pp${i}`, "Pipeline", "run.pp", "count"),
  field(`weight${i}`, "How often", "weight", "number", { unit: "weight" }),
];
const kKindNames = ["First kind of job", "Second kind of job"];

export const onCluster = (fields: Fields): boolean => fields.on === "cluster";

export function jobGroups(fields: Fields): FieldGroup[] {
  const folded = (title: string, about: string, of: readonly RunField[]): FieldGroup => ({ title, about, fields: of, folded: true });
  const limits = folded("Limits", "By when a job must be done: a fraction of its time alone. A later one is blocked.", kLimits);
  const stream: FieldGroup = { title: "Stream", fields: [kOn, ...kStream] };
  if (onCluster(fields)) {
    const kinds = Array.from({ length: kKinds }, (_, i): FieldGroup => ({ title: kKindNames[i]!, fields: kindFields(i + 1), folded: i > 0 }));
    return [stream, { title: "Cluster", fields: kCluster }, ...kinds, limits];
  }
  return [stream, limits, folded("PAC-ML's machine", "RAMP: servers in racks in groups, on an optical network. Empty: as published.", kRamp)];
}

export interface Preset {
  readonly id: string;
  readonly title: string;
  readonly fields: Fields;
}

export const kPresets: readonly Preset[] = [
  {
    id: "pac-ml",
    title: "PAC-ML's machine and models",
    fields: { policies: "max,acceptable,cheapest,lookahead3", loads: "600 s,800 s,1000 s,1500 s,2000 s", jobs: "200", seeds: "3" },
  },
  {
    id: "pac-ml-load",
    title: "PAC-ML's load curve, as published",
    fields: {
      policies: "max,acceptable",
      loads: "100 s,200 s,400 s,600 s,800 s,1000 s,1500 s,2000 s,3000 s,6000 s,12000 s",
      horizon: "1000000 s",
      seeds: "3",
      law: "uniform,skew-5,skew0,skew+5",
      "node-bandwidth": "3.125 GB/s",
      "as-published": "true",
    },
  },
  {
    id: "fine-tuning",
    title: "Fine-tuning on 32 nodes of DGX H100",
    fields: {
      on: "cluster",
      policies: "min,max,acceptable,cheapest,lookahead3",
      loads: "600 s,900 s,1800 s,3600 s",
      arrivals: "poisson",
      jobs: "100",
      seeds: "5",
      least: "0.2",
      cluster: "dgx-h100",
      nodes: "32",
      model1: "llama-2-7b",
      steps1: "2000",
      nodes1: "1,2,4,8",
      seq1: "4096",
      batch1: "128",
      weight1: "3",
      model2: "llama-3-70b",
      steps2: "500",
      nodes2: "4,8,16",
      seq2: "4096",
      batch2: "128",
      tp2: "8",
    },
  },
];

/** Which preset the fields are; undefined: their own. */
export function presetOf(fields: Fields): Preset | undefined {
  const text = (of: Fields) => JSON.stringify(Object.entries(of).filter(([name, value]) => name !== "metric" && value !== "").sort());
  return kPresets.find((preset) => text(preset.fields) === text(fields));
}

function put(into: Record<string, unknown>, path: string, value: unknown): void {
  const [first, ...rest] = path.split(".");
  if (rest.length === 0) into[first!] = value;
  else put((into[first!] ??= {}) as Record<string, unknown>, rest.join("."), value);
}

function said(each: StreamField, text: string): unknown {
  if (!each.list) return requestValue(each, text);
  const words = text.split(",").map((word) => word.trim()).filter((word) => word !== "");
  // Places to run on are counted, all else is named.
  return each.path === "nodes" ? words.map((word) => requestValue({ name: "", label: "", kind: "count" }, word)) : words;
}

function described(fields: Fields, known: readonly StreamField[]): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const each of known) {
    const text = fields[each.name];
    if (text !== undefined && text !== "" && each.path !== "") put(out, each.path, said(each, text));
  }
  return out;
}

/** The kinds of jobs that are described, by their number. */
const kindsOf = (fields: Fields): number[] => Array.from({ length: kKinds }, (_, i) => i + 1).filter((i) => fields[`model${i}`]);

/** The stream in place. */
export function jobsRequest(fields: Fields): Request {
  const stream = described(fields, [...kStream, ...kLimits, ...(onCluster(fields) ? kCluster : kRamp)]);
  if (onCluster(fields)) {
    stream.job = kindsOf(fields).map((i) => ({ name: String(fields[`model${i}`]).startsWith("{") ? `kind ${i}` : fields[`model${i}`], ...described(fields, kindFields(i)) }));
  }
  return { stream };
}

/** A problem of the stream, at the field that says it. */
export function jobsProblem(problem: Problem, fields: Fields): Problem {
  const where = problem.where.replace(/^stream\.?/, "");
  const kind = /^job\[(\d+)\]\.?(.*)$/.exec(where);
  const among = kind ? kindFields(kindsOf(fields)[Number(kind[1])] ?? 1) : [...kStream, ...kLimits, ...kRamp, ...kCluster];
  const path = kind ? kind[2]! : where;
  const found = among.find((each) => each.path !== "" && (path === each.path || path.startsWith(`${each.path}[`)));
  return { ...problem, where: found?.name ?? where };
}
