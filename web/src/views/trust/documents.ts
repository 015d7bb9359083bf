// What the server answers to `validate` with rows; docs/validation.md says what each field is.

export interface ErrorSummary {
  readonly rows: number;
  readonly median_share: number | null;
  readonly mean_share: number | null;
  readonly p90_share: number | null;
  readonly bias_share: number | null;
}

export interface TrustGroup {
  readonly name: string;
  readonly rows: number;
  readonly predicted: number;
  readonly step_time_error: ErrorSummary;
  readonly memory_error: ErrorSummary;
  readonly interval: { readonly rows: number; readonly inside_share: number | null } | null;
  readonly skipped: Readonly<Record<string, number>>;
}

export interface Aim {
  readonly id: string;
  readonly of: string;
  readonly measure: string;
  readonly unit: string; // "share", or "1" for a plain number
  readonly at_least: number | null;
  readonly at_most: number | null;
  readonly rows: number;
  readonly now: number | null;
  readonly met: boolean | null;
}

/** A measured run beside what is predicted of it; what a source does not say is null. */
export interface TrustRow {
  readonly id: string;
  readonly source_key: string;
  readonly outcome: string; // ok or oom
  readonly n_accel: number | null;
  readonly measured_step_time_s: number | null;
  readonly predicted_step_time_s: number | null;
  readonly error: number | null;
  readonly measured_memory_gb: number | null;
  readonly predicted_memory_gb: number | null;
  readonly predicted_fits: number | null;
  readonly interval_low_s: number | null;
  readonly interval_high_s: number | null;
  readonly assumed: string | null;
  readonly skipped_reason: string | null;
  readonly accelerator?: string | null;
  readonly framework?: string | null;
  readonly model?: string | null;
  readonly parallelism?: string | null;
  readonly source?: string | null;
}

export interface TrustDocument {
  readonly by: string;
  readonly groups: readonly TrustGroup[];
  readonly all: TrustGroup;
  readonly aims: readonly Aim[];
  readonly rows: readonly TrustRow[];
}
