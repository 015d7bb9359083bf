// What the server answers to a sweep; docs/scaling.md says what each field is.

export interface SweepPoint {
  readonly label: string;
  readonly value: number;
  readonly model: string;
  readonly cluster: string;
  readonly gpus: number;
  readonly seq: number;
  readonly global_batch: number;
  readonly precision: string;
  readonly layout: Readonly<Record<string, number | string>>;
  readonly step_time_s: number;
  readonly interval_step_time_s: readonly [number, number] | null;
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
  readonly assumptions: readonly { readonly name: string; readonly value: string; readonly source: string }[];
  readonly notes: readonly string[];
}
