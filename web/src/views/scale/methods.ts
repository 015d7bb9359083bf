// One run trained by each method: what is asked, and what a row says.
import type { Request } from "../../lib/api";
import type { CallDocument, PredictDocument } from "../../lib/documents";
import { kRunGroups, runRequest, type FieldGroup } from "../../lib/run";
import { without, type Fields } from "../../lib/url";

/** The choice of the view. */
export const kMethods = "methods";

/** What `headway list methods` says of one. */
export interface MethodNumbers {
  readonly name: string;
  readonly title: string;
  readonly what: string;
  /** What may be stated of it, with what stands where nothing is. */
  readonly usual: Readonly<Record<string, unknown>>;
  readonly sample_penalty: number;
  readonly penalty: string;
  readonly source: string;
}

/** The run where the address names none: two sites, with 10 Gb/s between them (docs/methods.md). */
export const kFirstMethods: Fields = {
  sweep: kMethods,
  model: "llama-2-7b",
  cluster: "dgx-h100",
  gpus: "128",
  seq: "4096",
  "global-batch": "512",
  zero: "1",
  dp: "128",
  "between-replicas": "2",
  "between-bandwidth": "10Gb/s",
  "between-latency": "10ms",
};

// What stands between replicas, said to each method that may know it.
const kBetween: readonly (readonly [field: string, of: string])[] = [
  ["between-replicas", "replicas"],
  ["between-bandwidth", "bandwidth"],
  ["between-latency", "latency"],
];

export const kMethodGroups: readonly FieldGroup[] = [
  {
    title: "Between replicas",
    about: "Replicas in places of their own, and the one link between them. Empty: all are in the cluster.",
    fields: [
      { name: "between-replicas", label: "Replicas", kind: "count" },
      { name: "between-bandwidth", label: "Bandwidth of the link", kind: "text", unit: "as 10Gb/s" },
      { name: "between-latency", label: "Latency of the link", kind: "text", unit: "as 10ms" },
    ],
  },
  // The method is what changes.
  ...kRunGroups.map((group) => ({ ...group, fields: group.fields.filter(({ name }) => name !== "method") })),
];

const between = (fields: Fields, may: (name: string) => boolean): string =>
  kBetween
    .filter(([field, of]) => (fields[field] ?? "") !== "" && may(of))
    .map(([field, of]) => `${of}=${fields[field]}`)
    .join(",");

/** Whether replicas have a link of their own between them. */
export const isApart = (fields: Fields): boolean => kBetween.some(([field]) => (fields[field] ?? "") !== "");

/** The run by this method; null: by the one that all others are compared with, which meets in every step. */
export function methodRequest(fields: Fields, method: MethodNumbers | null): Request {
  const run = runRequest(without(fields, ["method"]));
  if (method === null) return isApart(fields) ? { ...run, method: `local-sgd:every=1,${between(fields, () => true)}` } : run;
  const said = between(fields, (name) => name in method.usual);
  return { ...run, method: said === "" ? method.name : `${method.name}:${said}` };
}

/** Whether replicas with a link of their own between them mean something to the method. */
export const knowsLink = (method: MethodNumbers): boolean => "bandwidth" in method.usual;

/** What is exchanged a step for replicas to learn together; `apart`: over the link between them alone. */
export function bytesBetween(calls: readonly CallDocument[], apart: boolean): number {
  const counts = ({ group }: CallDocument) => (apart ? group.endsWith("_meeting") : group.startsWith("dp"));
  return calls.filter(counts).reduce((sum, call) => sum + call.bytes * call.count, 0);
}

/** What is known of the data that a method takes for the same loss. */
export function dataWords({ sample_penalty, penalty }: Pick<MethodNumbers, "sample_penalty" | "penalty">): string {
  const published = !/^no published number/.test(penalty);
  if (!published) return "no published number";
  return sample_penalty === 1 ? "only at smaller scale" : `at least x ${sample_penalty}`;
}

export interface MethodRow {
  /** null: meets in every step. */
  readonly method: MethodNumbers | null;
  readonly title: string;
  readonly step: PredictDocument | null;
  /** Why there is none. */
  readonly refused: string;
}

/** Of a method that knows no link between replicas, where they have one: it is told as if all were in one cluster. */
export const isOfOneCluster = ({ method }: Pick<MethodRow, "method">, apart: boolean): boolean => apart && method !== null && !knowsLink(method);

/** The rows by the time of a step, behind them those that are told of one cluster. */
export function byTime(rows: readonly MethodRow[], apart: boolean): MethodRow[] {
  const key = (row: MethodRow): [number, number, string] => [Number(isOfOneCluster(row, apart)), row.step?.step_time_s ?? Infinity, row.title];
  const before = (a: MethodRow, b: MethodRow) => {
    const [x, y] = [key(a), key(b)];
    return x[0] - y[0] || (x[1] === y[1] ? x[2].localeCompare(y[2]) : x[1] - y[1]);
  };
  return [...rows].sort(before);
}

/** The fastest that fits, knows how replicas are joined, and sends as much through the whole model. */
export function fastest(rows: readonly MethodRow[], apart: boolean): MethodRow | undefined {
  const fair = rows.filter((row) => row.method && row.step?.fits && trainsWhole(row.method) && !isOfOneCluster(row, apart));
  return byTime(fair, apart)[0];
}

/** What meeting seldom brings, as a sentence. */
export function headline(rows: readonly MethodRow[], apart: boolean, text: (seconds: number) => string): string {
  const base = rows.find(({ method }) => method === null)?.step;
  if (!base) return "What methods of training bring";
  const best = fastest(rows, apart);
  const meets = `Meeting in every step takes ${text(base.step_time_s)} a step`;
  if (!best?.step || best.step.step_time_s >= base.step_time_s * 0.995) return `${meets}; no method that trains the whole model takes less.`;
  return `${meets}, ${best.title} ${text(best.step.step_time_s)}, if it needs no more data.`;
}

// Of others a step is less work, on another model: their times are no gain by themselves.
const kOfLess = new Set(["ensemble", "decoupled", "evolution", "subnetworks", "local-updates", "overlapping-updates"]);
export const trainsWhole = ({ name }: Pick<MethodNumbers, "name">): boolean => !kOfLess.has(name);
