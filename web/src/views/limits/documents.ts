// What the server answers to `limits` and `list machines`; docs/limits.md says what each field is.

/** Degrees of a layout. */
export interface LimitsLayout {
  readonly dp: number;
  readonly tp_model: number;
  readonly tp_ff: number;
  readonly pp: number;
  readonly ep: number;
  readonly micro_batches: number;
  readonly interleave: number;
  readonly zero_bubble: boolean;
}

export interface LimitsRow {
  readonly training_flop: number;
  readonly d_model: number;
  readonly layers: number;
  readonly parameters: number;
  readonly batch_tokens: number;
  readonly n_gpus: number;
  readonly utilization: number;
  readonly run_time_s: number;
  readonly layout: LimitsLayout;
  readonly times: { readonly step_time_s: number; readonly parts_s: Readonly<Record<string, number>> };
}

export interface LimitsSetting {
  readonly name: string;
  readonly training: string;
  readonly machine: string;
  readonly precision: string;
  readonly sparse: boolean;
  readonly duration_s: number;
  readonly eta: number;
  readonly linear_share: number;
  readonly linear_scaling_end_flop: number | null;
  readonly linear_scaling_last_flop: number | null;
  readonly last_feasible_flop: number | null;
  readonly end: { readonly reason: string; readonly binds: string | null; readonly next_run_time_s: number | null };
  readonly closed_forms: {
    readonly implied_alpha: number;
    readonly implied_linear_flop: number | null;
    readonly implied_latency_flop: number | null;
  };
  readonly rows: readonly LimitsRow[];
  /** The limits between the models of the curve, where they were asked for. */
  readonly smooth?: { readonly linear_scaling_flop: number | null; readonly wall_flop: number | null };
}

export interface LimitsDocument {
  readonly title: string;
  readonly settings: readonly LimitsSetting[];
}

export interface LevelNumbers {
  readonly name: string;
  readonly size: number | null; // the outermost level has no end
  readonly bytes_per_s: number | null; // null: unlimited
  readonly latency_s: number;
}

export interface MachineNumbers {
  readonly name: string;
  readonly title: string;
  readonly peak_flop_per_s: Readonly<Record<string, number>>;
  readonly sustained_share: number;
  readonly compute_units: number;
  readonly register_blocks: number;
  readonly registers_bytes: number;
  readonly shared_bytes_per_s: number;
  readonly l2_bytes_per_s: number;
  readonly l2_bytes: number;
  readonly memory_bytes_per_s: number;
  readonly memory_bytes: number;
  readonly kernel_latency_s: number;
  readonly levels: readonly LevelNumbers[];
}

export interface MachinesDocument {
  readonly machines: readonly string[];
  readonly numbers: readonly MachineNumbers[];
}
