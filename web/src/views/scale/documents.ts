// What the server answers to a sweep and of a whole run; docs/scaling.md says what each field is.
import type { IntervalFrom, LayoutDocument } from "../../lib/documents";

export interface SweepPoint {
  readonly label: string;
  readonly value: number;
  readonly model: string;
  readonly cluster: string;
  readonly gpus: number;
  readonly seq: number;
  readonly global_batch: number;
  readonly precision: string;
  readonly layout: Readonly<Partial<LayoutDocument>>;
  readonly step_time_s: number;
  readonly interval_step_time_s: readonly [number, number] | null;
  readonly interval_from: IntervalFrom | null;
  readonly parts_s: Readonly<Record<string, number>>;
  readonly communication_s: number;
  readonly exposed_communication_s: number;
  readonly tokens_per_s: number;
  readonly tokens_per_s_per_gpu: number;
  readonly mfu: number;
  readonly hfu: number;
  readonly memory_bytes_total: number;
  readonly power_w_per_gpu: number | null;
  readonly tokens_per_j: number | null;
  readonly time_s: number | null;
  readonly gpu_hours: number | null;
  readonly energy_j: number | null;
  readonly price_usd: number | null;
  readonly co2_kg: number | null;
  readonly marginal_tokens_per_s_per_gpu: number | null;
  readonly marginal_tokens_per_s_per_w: number | null;
  readonly to_loss: {
    readonly tokens: number;
    readonly time_s: number;
    readonly best_global_batch: number;
    readonly best_training_time_s: number;
  } | null;
  readonly notes: readonly string[];
}

export interface SweepSeries {
  readonly name: string;
  readonly points: readonly SweepPoint[];
  readonly left_out: readonly { readonly label: string; readonly reason: string }[];
  readonly diminished_at_gpus: number | null;
}

export interface Crossover {
  readonly gpus: number;
  readonly at_once: boolean; // already at the fewest that were tried
  readonly pure: SweepPoint;
  readonly split: SweepPoint;
}

export interface SweepDocument {
  readonly axis: string;
  readonly model: string;
  readonly cluster: string;
  readonly gpus: number;
  readonly seq: number;
  readonly global_batch: number;
  readonly tokens: number;
  readonly threshold: number;
  readonly critical_batch_tokens: number | null;
  readonly series: readonly SweepSeries[];
  readonly crossover?: Crossover | null;
  readonly crossover_searched_gpus?: readonly [number, number];
  readonly assumptions: readonly Assumption[];
  readonly notes: readonly string[];
}

export interface Assumption {
  readonly name: string;
  readonly value: string;
  readonly source: string;
}

/** What a run's time is taken by; they sum to the total. */
export const kRunParts = ["training", "checkpoints", "lost_work", "restarts", "waiting"] as const;
export type RunPart = (typeof kRunParts)[number];

/** What a run takes. */
export interface RunCost {
  readonly gpus: number;
  readonly tokens: number;
  readonly global_batch_tokens: number;
  readonly steps: number;
  readonly step_time_s: number;
  readonly mfu: number;
  readonly tokens_per_s: number;
  readonly fits: boolean;
  readonly time_s: Readonly<Record<RunPart | "total", number>>;
  /** Four of five runs, by the luck of failures alone. */
  readonly interval_time_s: readonly [number, number] | null;
  readonly goodput: number;
  readonly interruptions: number;
  readonly mean_time_between_interruptions_s: number | null;
  readonly checkpoint: {
    readonly bytes: number;
    readonly blocking_s: number;
    readonly hidden_s: number;
    readonly interval_s: number | null;
    readonly best_interval_s: number | null;
  };
  readonly spare_nodes: number;
  readonly gpu_hours: number;
  readonly spare_gpu_hours: number;
  readonly power_w_per_gpu: number;
  readonly energy_j: Readonly<Record<RunPart | "spares" | "total", number>>;
  readonly co2_kg: number;
  readonly price_usd: number | null;
  readonly loss_nats_per_token: number;
  readonly critical_batch_tokens: number;
  readonly token_factor: number;
  readonly step_factor: number;
}

/** The same run with more or fewer data-parallel ranks. */
export interface ScaledRun extends RunCost {
  readonly factor: number;
  readonly batch_grown: boolean;
}

export interface RunDocument extends RunCost {
  readonly model: string;
  readonly cluster: string;
  readonly interval_step_time_s: readonly [number, number] | null;
  readonly interval_from: IntervalFrom | null;
  readonly by_gpus: readonly ScaledRun[];
  readonly left_out: readonly string[];
  readonly assumptions: readonly Assumption[];
  readonly notes: readonly string[];
}

export type ScaleDocument = SweepDocument | RunDocument;

export function isRun(document: ScaleDocument): document is RunDocument {
  return "by_gpus" in document;
}
