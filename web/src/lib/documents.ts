// The documents that the server answers with, as far as more than one file of the page reads them.
// Units stand in the names; docs/ describes every member.
import type { MemoryKind, Part } from "./parts";

export interface JobDocument {
  readonly task: string;
  readonly framework: string;
  readonly seq: number;
  readonly global_batch: number;
  readonly precision: string;
  readonly optimizer: string;
  readonly attention: string;
}

/** null: as the framework does. */
export type OnOff = "on" | "off" | null;

/** The fields of a run that are of its layout; a test holds them against the library's table. */
export interface LayoutDocument {
  readonly gpus: number;
  readonly dp: number;
  readonly tp: number;
  readonly cp: number;
  readonly pp: number;
  readonly vpp: number;
  readonly ep: number;
  readonly etp: number;
  readonly micro_batch: number;
  readonly micro_batches: number;
  readonly zero: number;
  readonly shard: number | null;
  readonly reshard: boolean;
  readonly secondary_shard: number | null;
  readonly sequence_parallel: boolean;
  readonly keep_gathered: boolean;
  readonly cp_exchange: string;
  readonly recompute: string;
  readonly recompute_pieces: readonly string[];
  readonly recompute_every: number;
  readonly recompute_one_in: number;
  readonly recompute_early_stop: OnOff;
  readonly schedule: string;
  readonly first_stage_layers: number | null;
  readonly last_stage_layers: number | null;
  readonly embedding_slots: number;
  readonly head_slots: number;
  readonly split_vocabulary: boolean;
  readonly offload: readonly string[];
  readonly order: string;
  readonly overlap_gradients: OnOff;
  readonly overlap_parameters: OnOff;
  readonly overlap_tensor: OnOff;
  readonly overlap_experts: OnOff;
  readonly dispatch: string;
  readonly tables?: string;
  readonly copy_below?: number;
  readonly rows_from?: number | null;
  readonly table_columns?: number;
  readonly table_cache?: number;
  readonly table_hits?: number | null;
  readonly table_wise_tables?: readonly string[];
  readonly column_wise_tables?: readonly string[];
  readonly row_wise_tables?: readonly string[];
  readonly table_row_wise_tables?: readonly string[];
  readonly grid_tables?: readonly string[];
  readonly data_parallel_tables?: readonly string[];
  readonly convolutions?: string;
  readonly attentions?: string;
  readonly feed_forwards?: string;
  readonly bottom_mlp?: string;
  readonly top_mlp?: string;
  readonly interactions?: string;
  readonly expert_mlp?: string;
}

export interface CallDocument {
  readonly group: string;
  readonly op: string;
  readonly bytes: number;
  readonly count: number;
  readonly dtype: string;
  readonly phase: string;
  readonly ranks: number;
  readonly level: string;
  readonly seconds_each: number;
  readonly exposed_s: number;
}

/** Stages `first` ... `first + stages - 1` of a pipeline: seconds for one micro-batch. */
export interface StageDocument {
  readonly first: number;
  readonly stages: number;
  readonly forward_s: number;
  readonly backward_s: number;
  readonly weight_gradient_s: number;
  readonly transfers_s: number;
  readonly sets_pace: boolean;
}

/** The measured runs that an interval is of, and how near to them a run is. */
export interface IntervalFrom {
  readonly runs: number;
  readonly of_framework: number;
  readonly on_accelerator: number;
  readonly of_setup: number;
  readonly doublings_away: number;
}

export interface PredictDocument {
  readonly model: string;
  readonly cluster: string;
  readonly parameters: number;
  readonly active_parameters: number;
  readonly job: JobDocument;
  readonly layout: LayoutDocument;
  readonly step_time_s: number;
  readonly interval_step_time_s: readonly [number, number] | null;
  /** The measured runs that the interval is of. */
  readonly interval_from: IntervalFrom | null;
  readonly parts_s: Readonly<Record<Part, number>>;
  readonly pipeline: {
    readonly stages: readonly StageDocument[];
    readonly send_s: number;
  };
  readonly tokens_per_s: number;
  readonly tokens_per_s_per_gpu: number;
  readonly model_flops_per_s_per_gpu: number;
  readonly attention_flops: string;
  readonly mfu: number;
  readonly hfu: number;
  readonly memory_bytes: Readonly<Record<MemoryKind | "total" | "capacity", number>>;
  readonly interval_memory_bytes: readonly [number, number] | null;
  readonly fits: boolean;
  readonly energy_j: number;
  readonly calls: readonly CallDocument[];
  readonly notes: readonly string[];
}

/** One layout of a plan: what a step takes and holds with it. */
export interface PlanPoint {
  readonly index: number;
  readonly flags: string;
  readonly step_time_s: number;
  readonly memory_that_must_fit_bytes: number;
  readonly energy_j: number;
  readonly layout: LayoutDocument;
}

export interface PlanBest extends PlanPoint {
  readonly interval_step_time_s: readonly [number, number] | null;
  readonly interval_from: IntervalFrom | null;
  readonly undecided: boolean | null;
  readonly tokens_per_s_per_gpu: number;
  readonly mfu: number;
  readonly memory_bytes: number;
  readonly capacity_bytes: number;
  readonly cost_dollars: number | null;
}

export interface PlanDocument {
  readonly model: string;
  readonly cluster: string;
  readonly gpus: number;
  readonly job: JobDocument;
  readonly objective: string;
  readonly headroom: number;
  readonly layouts: number;
  readonly proven: boolean;
  readonly best: readonly PlanBest[];
  readonly binds: readonly { readonly what: string; readonly share: number }[];
  readonly with_endless_memory: PlanPoint | null;
  readonly without: readonly { readonly feature: string; readonly best: PlanPoint | null }[];
  readonly sensitivity: readonly {
    readonly change: string;
    readonly step_time_s: number | null;
    readonly best: PlanPoint | null;
  }[];
  readonly pareto: readonly PlanPoint[];
  readonly remedies: readonly { readonly change: string; readonly best: PlanPoint | null }[];
  readonly notes: readonly string[];
}

/** What `emit` gives: the files that start a run. */
export interface LaunchDocument {
  readonly framework: string;
  readonly version: string;
  readonly files: readonly { readonly name: string; readonly text: string }[];
}
