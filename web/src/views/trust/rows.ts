// Rows of the corpus chosen, counted and summed up, as `headway validate` does it for all of them.
import type { TrustRow } from "./documents";

/** What is compared: seconds of a step, or GiB of memory of an accelerator. */
export type Measure = "time" | "memory";

/** A row of which both sides are known: what the drawing shows. */
export interface Pair {
  readonly row: TrustRow;
  readonly measured: number;
  readonly predicted: number;
  readonly error: number; // predicted over measured, less 1
}

/** Runs that ran, with both sides; what ran out of memory has no time to compare. */
export function pairsOf(rows: readonly TrustRow[], measure: Measure): Pair[] {
  const out: Pair[] = [];
  for (const row of rows) {
    const measured = measure === "time" ? row.measured_step_time_s : row.measured_memory_gb;
    const predicted = measure === "time" ? row.predicted_step_time_s : row.predicted_memory_gb;
    if (row.outcome !== "ok" || !measured || !predicted) continue;
    out.push({ row, measured, predicted, error: predicted / measured - 1 });
  }
  return out;
}

export type Facet = "source" | "accelerator" | "framework" | "scale" | "parallelism";
export const kFacets: readonly Facet[] = ["source", "accelerator", "framework", "scale", "parallelism"];

// The groups of `headway validate --by scale`.
const kScales: readonly [number, string][] = [
  [8, "1-8"],
  [16, "9-16"],
  [32, "17-32"],
  [64, "33-64"],
  [128, "65-128"],
  [256, "129-256"],
  [512, "257-512"],
  [1024, "513-1024"],
  [Infinity, "1025-"],
];

/** What a row counts under; "not stated" where its source does not say. */
export function facetOf(row: TrustRow, facet: Facet): string {
  if (facet === "source") return row.source_key;
  if (facet === "scale") {
    const n = row.n_accel;
    return n === null || n <= 0 ? "not stated" : kScales.find(([most]) => n <= most)![1];
  }
  return row[facet] || "not stated";
}

/** The values of a facet with their numbers of rows, the most frequent first; scales in their order. */
export function valuesOf(rows: readonly TrustRow[], facet: Facet): [string, number][] {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(facetOf(row, facet), (counts.get(facetOf(row, facet)) ?? 0) + 1);
  const values = [...counts];
  if (facet !== "scale") return values.sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  const order = (name: string) => kScales.findIndex(([, each]) => each === name);
  return values.sort((a, b) => order(a[0]) - order(b[0]));
}

/** Chosen values by facet; a facet without any lets every row through. */
export type Chosen = Readonly<Partial<Record<Facet, string>>>;

export function matching(rows: readonly TrustRow[], chosen: Chosen): TrustRow[] {
  const asked = kFacets.filter((facet) => chosen[facet]);
  return rows.filter((row) => asked.every((facet) => facetOf(row, facet) === chosen[facet]));
}

export interface Summary {
  readonly rows: number;
  readonly median: number; // of the errors' sizes
  readonly p90: number;
  readonly bias: number; // median of the errors with their signs
  readonly inside: number; // share of the rows with an interval that lie in it; NaN: none has one
}

/** A quantile with a line between neighbours, as the engine takes it. */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) return NaN;
  const ordered = [...values].sort((a, b) => a - b);
  const at = q * (ordered.length - 1);
  const below = Math.floor(at);
  const above = Math.min(below + 1, ordered.length - 1);
  return ordered[below]! + (at - below) * (ordered[above]! - ordered[below]!);
}

export function summaryOf(pairs: readonly Pair[]): Summary {
  const sizes = pairs.map(({ error }) => Math.abs(error));
  const stated = pairs.filter(({ row }) => row.interval_low_s !== null && row.interval_high_s !== null);
  const inside = stated.filter(({ row }) => {
    const measured = row.measured_step_time_s!;
    return row.interval_low_s! <= measured && measured <= row.interval_high_s!;
  });
  return {
    rows: pairs.length,
    median: quantile(sizes, 0.5),
    p90: quantile(sizes, 0.9),
    bias: quantile(
      pairs.map(({ error }) => error),
      0.5,
    ),
    inside: inside.length / stated.length,
  };
}

/** The factor by which four of five predictions are off at most, up or down. */
export function usualFactor(pairs: readonly Pair[]): number {
  return Math.exp(
    quantile(
      pairs.map(({ measured, predicted }) => Math.abs(Math.log(predicted / measured))),
      0.8,
    ),
  );
}

/** A source that is a page is told apart from one that is a citation. */
export function sourceLink(source: string | null | undefined): string | null {
  if (!source) return null;
  const github = /^github:([\w.-]+\/[\w.-]+)@([0-9a-f]{7,40}):([^\s:]+)(?::L(\d+))?/.exec(source);
  if (github) {
    const [, repository, commit, path, line] = github;
    return `https://github.com/${repository}/blob/${commit}/${path}${line ? `#L${line}` : ""}`;
  }
  return /^https:\/\/\S+$/.exec(source)?.[0] ?? null;
}
