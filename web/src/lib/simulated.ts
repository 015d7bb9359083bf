// The answer of `headway simulate` with its timeline: a column for each property, as data/schema has it.
import type { Part } from "./parts";

type Column = readonly number[];

/** The spans of one stage, in the order in which they were placed; -1 where a property does not apply. */
export interface SpansDocument {
  readonly name: Column;
  readonly stream: Column;
  readonly part: Column;
  readonly chunk: Column;
  readonly micro_batch: Column;
  readonly program: Column;
  readonly begin_s: Column;
  readonly end_s: Column;
  /** 1 where other spans of the stage run meanwhile. */
  readonly beside: Column;
  readonly waits_for_stage: Column;
  readonly waits_for: Column;
  readonly transfer_s: Column;
  readonly critical: Column;
}

/** What a slot runs, from its beginning on. */
export interface ProgramDocument {
  readonly time_s: number;
  readonly name: Column;
  readonly stream: Column;
  readonly part: Column;
  readonly begin_s: Column;
  readonly end_s: Column;
  readonly waits_for: Column;
  readonly critical: Column;
}

export interface TimelineDocument {
  readonly time_s: number;
  readonly streams: readonly string[];
  readonly parts: readonly string[];
  readonly stages: readonly SpansDocument[];
  readonly programs: readonly ProgramDocument[];
  readonly names: readonly string[];
}

export interface SimulateDocument {
  readonly step_time_s: number;
  readonly parts_s: Readonly<Record<Part, number>>;
  readonly stage: number;
  readonly placed_s: number;
  readonly critical_path: { readonly ends_on_stage: number; readonly parts_s: Readonly<Record<Part, number>> };
  readonly stages: readonly { readonly end_s: number; readonly parts_s: Readonly<Record<Part, number>> }[];
  /** Where it was asked for. */
  readonly timeline?: TimelineDocument;
}
