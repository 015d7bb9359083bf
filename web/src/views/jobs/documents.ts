// What the server answers to `jobs`; docs/jobs.md says what each field is.

export interface PolicyAtLoad {
  readonly policy: string;
  /** Between two arrivals, in the mean. */
  readonly interval_s: number;
  readonly jobs: number;
  readonly blocked: number;
  readonly refused: number;
  readonly hopeless: number;
  readonly blocking: number;
  /** 10, 50 and 90 % over seeds. */
  readonly blocking_quantiles: readonly [number, number, number];
  readonly utilisation: number;
  readonly jct_p10_s: number | null;
  readonly jct_p50_s: number | null;
  readonly jct_p90_s: number | null;
  /** Of jobs that share links: what they take over what they take alone. */
  readonly slowdown_mean?: number;
  readonly slowdown_p90?: number | null;
  /** Of the jobs that ran, the share that ended after its limit as others came. */
  readonly late?: number;
}

export interface PolicyGain {
  readonly policy: string;
  readonly than: string;
  readonly interval_s: number;
  readonly blocking_less: number;
  /** The interval of 95 %; null of one seed. */
  readonly blocking_less_low: number | null;
  readonly blocking_less_high: number | null;
}

export interface JobsDocument {
  readonly machine: string;
  readonly servers: number;
  readonly seeds: number;
  readonly as_published: boolean;
  readonly hopeless: number;
  readonly policies: readonly PolicyAtLoad[];
  readonly gains: readonly PolicyGain[];
}
