// What the server answers to `comms`: what a run is expected to send, what traces hold, or both beside
// each other. docs/communication.md, traces.md and reconcile.md say what each field is.

import type { CallDocument, LayoutDocument } from "../../lib/documents";

export interface Sums {
  readonly calls: number;
  readonly algorithm_bytes: number;
  readonly wire_bytes: number;
  readonly time_s: number;
  readonly latency_s: number;
  readonly exposed_s: number;
}

export interface ExpectedCall extends CallDocument {
  readonly hidden_by: string;
  readonly small: boolean;
  readonly wire_bytes: number;
}

export interface LevelUse {
  readonly level: string;
  readonly wire_bytes: number;
  readonly network_cards: number | null;
  readonly ranks_sharing: number;
  readonly bytes_each_port: number;
  readonly bytes_per_s_port: number;
  readonly busy_share: number;
}

export interface Totals {
  readonly all: Sums;
  readonly calls_per_s: number;
  readonly small: Sums;
  readonly by_group: Readonly<Record<string, Sums>>;
  readonly by_module: Readonly<Record<string, Sums>>;
  readonly by_level: readonly LevelUse[];
  readonly by_size: readonly (Sums & { readonly from_bytes: number; readonly below_bytes: number })[];
}

export interface RankClass {
  readonly first_stage: number;
  readonly stages: number;
  readonly ranks: number;
  readonly sets_pace: boolean;
  readonly calls: readonly ExpectedCall[];
}

export interface ExpectedDocument {
  readonly model: string;
  readonly cluster: string;
  readonly layout: LayoutDocument;
  readonly step_time_s: number;
  readonly fits: boolean;
  readonly small_means: string;
  readonly mean_rank: Totals;
  readonly classes: readonly RankClass[];
  readonly textbook: readonly {
    readonly of: string;
    readonly formula: string;
    readonly textbook_bytes: number;
    readonly framework_bytes: number;
    readonly ratio: number | null;
    readonly reasons: readonly string[];
  }[];
  readonly notes: readonly string[];
}

export interface MeasuredCalls {
  readonly group: string;
  readonly op: string;
  readonly ranks: number;
  readonly count: number;
  readonly bytes: number;
  readonly wire_bytes: number;
  readonly smallest_bytes: number | null;
  readonly largest_bytes: number | null;
  readonly time_kind: string;
  readonly seconds: number | null;
  readonly busbw_bytes_per_s: number | null;
}

export interface MeasuredWaiting {
  readonly group: string;
  readonly op: string;
  readonly collectives: number;
  readonly transfer_s: number;
  readonly waiting_s: number;
  readonly longest_wait_s: number;
  readonly last_rank: number | null;
  readonly times_last: number;
}

export interface MeasuredDocument {
  readonly source: readonly string[];
  readonly unread: readonly { readonly file: string; readonly why: string }[];
  readonly format: string;
  readonly ranks: readonly { readonly rank: number; readonly label: string }[];
  readonly calls_by_group: readonly MeasuredCalls[];
  readonly waiting_by_group: readonly MeasuredWaiting[];
  readonly overlap: readonly {
    readonly rank: number;
    readonly span_s: number;
    readonly compute_s: number;
    readonly communication_s: number;
    readonly hidden_s: number;
    readonly exposed_s: number;
    readonly idle_s: number;
  }[];
  readonly histogram: {
    readonly empty: number;
    readonly bins: readonly { readonly from_bytes: number; readonly count: number; readonly bytes: number }[];
  };
  readonly omissions: readonly { readonly what: string; readonly count: number; readonly lost: boolean }[];
  readonly notes: readonly string[];
}

export interface ComparedRow {
  readonly groups: readonly string[];
  readonly recorded_group: string | null;
  readonly match: string;
  readonly expected_op: string | null;
  readonly measured_op: string | null;
  readonly phase: string | null;
  readonly ranks: number;
  readonly expected_count: number;
  readonly measured_count: number;
  readonly expected_bytes: number;
  readonly measured_bytes: number;
  readonly expected_s: number | null;
  readonly transfer_s: number | null;
  readonly waiting_s: number | null;
  readonly slowdown: number | null;
  readonly exposed_s: number | null;
}

export interface ComparedDocument {
  readonly model: string;
  readonly cluster: string;
  readonly format: string;
  readonly run_ranks: number;
  readonly recorded_ranks: number;
  readonly steps: number;
  readonly steps_by: string;
  readonly verdict: string;
  readonly as_expected: boolean;
  readonly findings: readonly { readonly kind: string; readonly lost_s: number | null; readonly text: string }[];
  readonly expected_s: number;
  readonly measured_s: number;
  readonly transfer_s: number;
  readonly waiting_s: number;
  readonly exposed_s: number;
  readonly rows: readonly ComparedRow[];
  readonly omissions: readonly { readonly what: string; readonly count: number }[];
  readonly assumptions: readonly string[];
}

export const kStudyParts = ["data", "tensor", "pipeline", "combined", "sequence"] as const;
export type StudyPart = (typeof kStudyParts)[number];

export interface StudiedModel {
  readonly model: string;
  readonly parameters: number;
  readonly weight_bytes: number;
  readonly gradient_wire_bytes_8_ranks: number;
  readonly gradient_calls_zero_1: number;
  readonly activation_bytes: number;
  readonly tensor_all_reduces_in_layers: number;
  readonly tensor_all_reduces: number;
  readonly tensor_bytes_in_layers: number;
  readonly boundary_bytes: number;
}

export interface StudiedRun {
  readonly part: StudyPart;
  readonly model: string;
  readonly seq: number;
  readonly layout: Pick<LayoutDocument, "gpus" | "dp" | "tp" | "pp" | "micro_batch" | "zero">;
  readonly step_time_s: number;
  readonly tokens_per_s_per_gpu: number;
  readonly fits: boolean;
  readonly calls: number;
  readonly wire_bytes: number;
  readonly wire_bytes_by_op: Readonly<Record<string, number>>;
  readonly wire_bytes_by_group: Readonly<Record<string, number>>;
  readonly wire_bytes_by_module?: Readonly<Record<string, number>>;
  readonly exposed_s: number;
  readonly smallest_bytes: number;
  readonly median_bytes: number;
  readonly largest_bytes: number;
  readonly small: { readonly calls: number; readonly wire_bytes: number; readonly time_s: number };
}

export interface StudyDocument {
  readonly cluster: string;
  readonly models: readonly StudiedModel[];
  readonly runs: readonly StudiedRun[];
}

export type CommsDocument = ExpectedDocument | MeasuredDocument | ComparedDocument | StudyDocument;

export function isStudy(document: CommsDocument): document is StudyDocument {
  return "models" in document;
}

export function isCompared(document: CommsDocument): document is ComparedDocument {
  return "verdict" in document;
}
export function isMeasured(document: CommsDocument): document is MeasuredDocument {
  return "calls_by_group" in document;
}
