// Calls summed up as they are drawn: by group and operation, by group and size.
import type { Category } from "../../charts/palette";
import type { Row } from "../../charts/stack";
import { partColour } from "../../lib/parts";
import type { ExpectedCall, RankClass } from "./documents";

/** What of the calls is summed up. */
export type Quantity = "bytes" | "time" | "exposed" | "calls";
export const kQuantities: readonly { id: Quantity; label: string }[] = [
  { id: "bytes", label: "bytes on the wire" },
  { id: "time", label: "seconds of calls" },
  { id: "exposed", label: "seconds exposed" },
  { id: "calls", label: "number of calls" },
];

const kAmounts: Readonly<Record<Quantity, (call: ExpectedCall) => number>> = {
  bytes: (call) => call.wire_bytes,
  time: (call) => call.count * call.seconds_each,
  exposed: (call) => call.exposed_s,
  calls: (call) => call.count,
};

export interface WeightedCall {
  readonly call: ExpectedCall;
  readonly weight: number; // share of the ranks that make it
}

/** The calls of the mean of all ranks. */
export function meanCalls(classes: readonly RankClass[]): WeightedCall[] {
  const ranks = classes.reduce((sum, each) => sum + each.ranks, 0);
  return classes.flatMap((each) => each.calls.map((call) => ({ call, weight: each.ranks / ranks })));
}

type Sums = Record<string, Record<string, number>>;

function sums(
  calls: readonly WeightedCall[],
  quantity: Quantity,
  outer: (c: ExpectedCall) => string,
  inner: (c: ExpectedCall) => string,
): Sums {
  const out: Sums = {};
  for (const { call, weight } of calls) {
    const into = (out[outer(call)] ??= {});
    into[inner(call)] = (into[inner(call)] ?? 0) + weight * kAmounts[quantity](call);
  }
  return out;
}

const whole = (parts: Record<string, number>) => Object.values(parts).reduce((sum, each) => sum + each, 0);

/** A row for each group, the largest first, its parts by operation. */
export function byGroup(calls: readonly WeightedCall[], quantity: Quantity): Row[] {
  const groups = sums(
    calls,
    quantity,
    (call) => call.group,
    (call) => call.op,
  );
  return Object.entries(groups)
    .map(([label, parts]) => ({ label, parts }))
    .sort((a, b) => whole(b.parts) - whole(a.parts));
}

/** Powers of two from the smallest message to the largest, each with its parts by group. */
export function bySize(calls: readonly WeightedCall[], quantity: Quantity, label: (bytes: number) => string): Row[] {
  const exponent = (call: ExpectedCall) => Math.floor(Math.log2(Math.max(1, call.bytes)) + 1e-9);
  const bins = sums(
    calls,
    quantity,
    (call) => String(exponent(call)),
    (call) => call.group,
  );
  const present = Object.keys(bins).map(Number);
  if (present.length === 0) return [];
  const out: Row[] = [];
  for (let e = Math.min(...present); e <= Math.max(...present); ++e) {
    out.push({ label: label(2 ** e), parts: bins[String(e)] ?? {} });
  }
  return out;
}

const kOps = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_receive"];

/** Operations as categories; each keeps its colour whatever else is there. */
export const kOpCategories: readonly Category[] = [...kOps, "other"].map((key, index) => ({
  key,
  name: key.replaceAll("_", " "),
  colour: `var(--series-${index + 1})`,
}));

/** Groups as categories in the order of a step's parts, others after them. */
export function groupCategories(calls: readonly WeightedCall[]): Category[] {
  const known = ["tp", "cp", "ep", "pp", "dp"];
  const present = [...new Set(calls.map(({ call }) => call.group))];
  const rank = (name: string) => (known.includes(name) ? known.indexOf(name) : known.length);
  const ordered = present.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  return ordered.map((key) => ({ key, name: key, colour: partColour(key) }));
}
