// What `infer` answers, as far as this view reads it (data/schema/infer.json).

export interface SplitDocument {
  readonly tp: number;
  readonly pp: number;
  readonly ep: number;
  readonly dp: number;
}

export interface QuantilesDocument {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

export const kPassParts = ["products", "attention", "passes", "tp", "ep", "pp", "host"] as const;
export type PassPart = (typeof kPassParts)[number];
export type PassDocument = Readonly<Record<PassPart, number>>;

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
  readonly share_within_limits?: number;
  readonly price_per_million_tokens?: number;
}

export interface ServedOn {
  readonly model: string;
  readonly cluster: string;
  readonly engine: string;
  readonly gpus: number;
  readonly weights: string;
  readonly cache: string;
  readonly input_len: number;
  readonly output_len: number;
}

export interface MemoryDocument {
  readonly weights: number;
  readonly reserved: number;
  readonly capacity: number;
  readonly cache_of_token: number;
}

/** One way of serving; no times where it does not fit or is not stable. */
export interface ServedDocument extends ServedOn, Partial<GainedDocument> {
  readonly layout: SplitDocument;
  readonly fits: boolean;
  readonly capacity_requests_per_s?: number;
  readonly parts_s?: { readonly prefill: PassDocument; readonly decode: PassDocument };
  readonly memory_bytes: MemoryDocument;
  readonly kv_tokens: number;
}

export interface OfferDocument extends GainedDocument {
  readonly layout: SplitDocument;
  readonly concurrency: number;
  readonly binds: string;
}

export interface BestDocument extends ServedOn {
  readonly tried: number;
  readonly front: readonly OfferDocument[];
}

export const kCurves = ["concurrency", "rate", "batch"] as const;
export type CurveOf = (typeof kCurves)[number];

export interface CurveDocument extends ServedOn {
  readonly layout: SplitDocument;
  readonly curve: CurveOf;
  readonly fits: boolean;
  readonly capacity_requests_per_s?: number;
  readonly points: readonly GainedDocument[];
}

/** Whether there are times: it fits, and is stable. */
export function isAnswered(served: ServedDocument): served is ServedDocument & GainedDocument {
  return served.ttft_s !== undefined;
}
