// What of a policy at a load is drawn, and sentences about all of them.
import { count, duration, percent } from "../../lib/format";
import type { JobsDocument, PolicyAtLoad, PolicyGain } from "./documents";

export interface JobsMetric {
  readonly id: string;
  readonly label: string;
  readonly value: (row: PolicyAtLoad) => number | null;
  readonly range?: (row: PolicyAtLoad) => readonly [number | null, number | null];
  readonly text: (value: number) => string;
  readonly tick: (value: number) => string;
  readonly log?: boolean;
  readonly note: string;
}

const inPercent = (value: number) => `${Math.round(value * 100)} %`;

export const kJobsMetrics: readonly JobsMetric[] = [
  {
    id: "blocking",
    label: "jobs that are blocked (share)",
    value: (row) => row.blocking,
    range: (row) => [row.blocking_quantiles[0], row.blocking_quantiles[2]],
    text: percent,
    tick: inPercent,
    note: "The mean over streams; the band holds 80 % of them.",
  },
  {
    id: "utilisation",
    label: "how busy the servers are (share)",
    value: (row) => row.utilisation,
    text: percent,
    tick: inPercent,
    note: "Of all server-seconds, those of jobs that run.",
  },
  {
    id: "time",
    label: "time until a job is done (s)",
    value: (row) => row.jct_p50_s,
    range: (row) => [row.jct_p10_s, row.jct_p90_s],
    text: duration,
    tick: duration,
    log: true,
    note: "The median of the jobs that ran, from their arrival; the band holds 80 % of them.",
  },
];

export const jobsMetricOf = (id: string | undefined): JobsMetric => kJobsMetrics.find((metric) => metric.id === id) ?? kJobsMetrics[0]!;

/** Jobs that arrive in an hour. */
export const loadOf = (row: Pick<PolicyAtLoad, "interval_s">): number => 3600 / row.interval_s;

/** "a job each 1,000 s". */
export const loadWords = (seconds: number): string => `a job each ${count(seconds)} s`;

/** The load of the middle: neither the least nor the most that was asked for. */
function middle(document: JobsDocument): number | undefined {
  const loads = [...new Set(document.policies.map((row) => row.interval_s))].sort((a, b) => a - b);
  return loads[Math.floor(loads.length / 2)];
}

// The policies at that load, the one that blocks least first.
const atMiddle = (document: JobsDocument): PolicyAtLoad[] =>
  document.policies.filter((row) => row.interval_s === middle(document)).sort((a, b) => a.blocking - b.blocking);

/** Which policy blocks least at a load in the middle, and how much the one that blocks most. */
export function headline(document: JobsDocument): string {
  const rows = atMiddle(document);
  const [least] = rows;
  if (!least) return `No jobs on ${document.machine}.`;
  const said = `With ${loadWords(least.interval_s)}, ${least.policy} blocks ${percent(least.blocking)} of the jobs`;
  const most = rows[rows.length - 1]!;
  if (rows.length === 1) return `${said}.`;
  return most.blocking === least.blocking ? `${said}, as the other policies do.` : `${said}, ${most.policy} ${percent(most.blocking)}.`;
}

/** The same in few words. */
export function glance(document: JobsDocument): string {
  const [least] = atMiddle(document);
  return least ? `${least.policy} blocks ${percent(least.blocking)}` : "no jobs";
}

/** Whether a policy blocks less than another, as far as the streams tell. */
export function verdict({ blocking_less_low: low, blocking_less_high: high }: PolicyGain): string {
  if (low === null || high === null) return "one stream does not tell";
  return low > 0 ? "blocks less" : high < 0 ? "blocks more" : "cannot be told apart";
}

/** "+2.8 (1.4 to 4.3) points" */
export function points(gain: PolicyGain): string {
  const signed = (share: number) => `${share >= 0 ? "+" : "−"}${Math.abs(share * 100).toFixed(1)}`;
  const { blocking_less_low: low, blocking_less_high: high } = gain;
  return low === null || high === null ? signed(gain.blocking_less) : `${signed(gain.blocking_less)} (${signed(low)} to ${signed(high)})`;
}
