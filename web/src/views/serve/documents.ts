// What `infer` answers, as far as this view reads it (data/schema/infer.json).

export interface SplitDocument {
  readonly tp: number;
  readonly pp: number;
  readonly ep: number;
  readonly dp: number;
  readonly cp: number;
}

export interface QuantilesDocument {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

export const kPassParts = ["products", "attention", "passes", "tp", "ep", "cp", "pp", "host"] as const;
export type PassPart = (typeof kPassParts)[number];
export type PassDocument = Readonly<Record<PassPart, number>>;

/** From, to: four of five measured ones lie there. */
export type IntervalsDocument = Readonly<
  Partial<Record<"ttft_s" | "tpot_s" | "latency_s" | "throughput_output_tok_s", readonly [number, number]>>
>;

/** By how many measured servings an interval is told. */
export interface MeasurementsDocument {
  readonly measurements: number;
  readonly sources: number;
}
export type IntervalFromDocument = Readonly<
  Partial<Record<"ttft_s" | "tpot_s" | "latency_s" | "throughput_output_tok_s", MeasurementsDocument>>
> & { readonly engine_measured: boolean; readonly accelerator_measured: boolean };

/** What requests get. */
export interface GainedDocument {
  readonly batch?: number;
  readonly concurrency?: number;
  readonly rate?: number;
  readonly ttft_s: number;
  readonly tpot_s: number;
  readonly latency_s: number;
  readonly throughput_output_tok_s: number;
  readonly throughput_total_tok_s: number;
  /** Absent where an answer is one token. */
  readonly tokens_per_s_per_user?: number;
  readonly tokens_per_s_per_gpu: number;
  /** Of each copy at a time, at most. */
  readonly sequences: number;
  readonly quantiles?: Readonly<Record<"ttft_s" | "tpot_s" | "latency_s", QuantilesDocument>>;
  readonly interval?: IntervalsDocument;
  readonly interval_from?: IntervalFromDocument;
  readonly share_within_limits?: number;
  readonly energy_j_per_token?: number;
  readonly price_per_million_tokens?: number;
}

export interface ServedOn {
  readonly model: string;
  readonly cluster: string;
  readonly engine: string;
  readonly gpus: number;
  readonly weights: string;
  readonly cache: string;
  readonly step_tokens: number;
  readonly input_len: number;
  readonly output_len: number;
}

export interface MemoryDocument {
  readonly weights: number;
  readonly reserved: number;
  readonly capacity: number;
  readonly cache_of_token: number;
  /** Of layers that keep one in place of a cache. */
  readonly state_of_sequence: number;
}

/** Copies of prefill or of decode, on accelerators of their own. */
export interface PoolDocument {
  readonly layout: SplitDocument;
  readonly copies: number;
  readonly gpus: number;
  readonly step_tokens: number;
  readonly fits: boolean;
  readonly memory_bytes: MemoryDocument;
  readonly kv_tokens: number;
  readonly capacity_requests_per_s?: number;
}

/** One way of serving; no times where it does not fit or is not stable. */
export interface ServedDocument extends ServedOn, Partial<GainedDocument> {
  readonly layout: SplitDocument;
  readonly fits: boolean;
  /** Where they are apart; layout and memory are then those of decode. */
  readonly prefill?: PoolDocument;
  readonly decode?: PoolDocument;
  readonly cache_move_s?: number;
  readonly binds?: string;
  readonly capacity_requests_per_s?: number;
  readonly parts_s?: { readonly prefill: PassDocument; readonly decode: PassDocument };
  readonly memory_bytes: MemoryDocument;
  readonly kv_tokens: number;
}

export interface OfferDocument extends GainedDocument {
  readonly layout: SplitDocument;
  readonly weights: string;
  readonly cache: string;
  readonly step_tokens: number;
  readonly concurrency: number;
  readonly binds: string;
  /** What most of the time that a request costs is bound by: compute, memory, network or latency. */
  readonly bound: string;
  readonly bound_shares: Readonly<Record<string, number>>;
  /** Of prefill and decode apart; layout is then that of a copy of decode. */
  readonly prefill?: SplitDocument;
  readonly prefill_copies?: number;
  readonly prefill_step_tokens?: number;
  readonly decode_copies?: number;
}

export interface BestDocument extends ServedOn {
  readonly tried: number;
  readonly placed: number;
  readonly formats: readonly { readonly weights: string; readonly cache: string }[];
  readonly front: readonly OfferDocument[];
  /** Where no way fits: accelerators of which some way does. */
  readonly would_fit_gpus?: number;
}

export const kCurves = ["concurrency", "rate", "batch"] as const;
export type CurveOf = (typeof kCurves)[number];

export interface CurveDocument extends ServedOn {
  readonly layout: SplitDocument;
  readonly curve: CurveOf;
  readonly fits: boolean;
  /** Where they are apart; layout is then that of decode, and clients are of all copies. */
  readonly prefill?: PoolDocument;
  readonly decode?: PoolDocument;
  readonly binds?: string;
  readonly capacity_requests_per_s?: number;
  readonly points: readonly GainedDocument[];
}

/** Whether there are times: it fits, and is stable. */
export function isAnswered(served: ServedDocument): served is ServedDocument & GainedDocument {
  return served.ttft_s !== undefined;
}
