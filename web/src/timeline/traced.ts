// What traces hold as a timeline: a row for each rank. Its row has the kernels that compute, and of calls what no
// kernel covers; below it, on its streams, everything stands whole.
import { inTime, type Span, type Timeline } from "./timeline";

type Column = readonly number[];

/** Of one rank, by their beginning: kernels and calls. -1: nothing. */
export interface TracedRank {
  readonly label: string;
  readonly name: Column;
  readonly stream: Column;
  readonly part: Column;
  readonly begin_s: Column;
  readonly end_s: Column;
  readonly waiting_s: Column;
  readonly waits_for_rank: Column;
  readonly waits_for: Column;
  readonly critical: Column;
}

/** The timeline of `headway comms TRACE... --timeline --json`. */
export interface TracedDocument {
  readonly time_s: number;
  readonly ranks: readonly TracedRank[];
  readonly streams: readonly string[];
  /** "computation", and the operations that there are. */
  readonly parts: readonly string[];
  readonly names: readonly string[];
  readonly critical_path: boolean;
  readonly left_out: number;
  readonly unplaced_ranks: number;
}

/** More rows are not drawn. */
export const kMostRanks = 64;

const kComputation = "computation";
const kCallColours = ["--series-2", "--series-3", "--series-4", "--series-5", "--series-6", "--series-7", "--series-8"];

export function timelineOfTraces(document: TracedDocument): Timeline {
  const { names, parts } = document;
  const operations = parts.filter((part) => part !== kComputation).sort();
  const colourOf = (part: string) =>
    part === kComputation ? "--part-compute" : kCallColours[operations.indexOf(part) % kCallColours.length]!;
  const shown = document.ranks.slice(0, kMostRanks);
  const stages = shown.map((rank, stage) =>
    rank.name.map((name, index): Span => {
      const part = parts[rank.part[index]!]!;
      const [ofRank, at] = [rank.waits_for_rank[index]!, rank.waits_for[index]!];
      return {
        stage,
        index,
        name: names[name]!,
        label: names[name]!,
        stream: rank.stream[index]!,
        part,
        chunk: 0,
        microBatch: 0,
        program: null,
        start: rank.begin_s[index]!,
        end: rank.end_s[index]!,
        beside: false,
        critical: rank.critical[index] === 1,
        waitsFor: ofRank < 0 || ofRank >= shown.length || at < 0 ? null : { stage: ofRank, index: at },
        transfer: 0,
        waiting: rank.waiting_s[index]!,
        colour: colourOf(part),
        whole: null,
      };
    }),
  );
  return {
    length: Math.max(document.time_s, 1e-9),
    chunks: 1,
    stages,
    rows: stages.map(rowOf),
    streams: document.streams,
    row: "rank",
    rowNames: shown.map((rank) => rank.label),
    legend: parts.map((part) => [colourOf(part), part] as const),
    hasPath: document.critical_path,
  };
}

// A piece of a span, or the span where nothing of it is missing.
function piece(span: Span, start: number, end: number): Span {
  if (start === span.start && end === span.end) return span;
  const waiting = Math.max(0, Math.min(end, span.start + span.waiting) - start);
  return { ...span, start, end, waiting, whole: span };
}

/** What follows one another in a rank's row: kernels, each from where those before it end, then in the gaps between them
 * the calls, each likewise. */
export function rowOf(spans: readonly Span[]): Span[] {
  const ordered = inTime(spans.filter((span) => span.end > span.start));
  const kernels: Span[] = [];
  let until = -Infinity;
  for (const span of ordered) {
    if (span.part !== kComputation || span.end <= until) continue;
    kernels.push(piece(span, Math.max(span.start, until), span.end));
    until = span.end;
  }
  const out: Span[] = [...kernels];
  until = -Infinity;
  let next = 0; // the first kernel that may cover what is looked at
  for (const span of ordered) {
    if (span.part === kComputation || span.end <= until) continue;
    let from = Math.max(span.start, until);
    until = span.end;
    while (next < kernels.length && kernels[next]!.end <= from) ++next;
    for (let i = next; i < kernels.length && kernels[i]!.start < span.end; ++i) {
      if (kernels[i]!.start > from) out.push(piece(span, from, kernels[i]!.start));
      from = Math.max(from, kernels[i]!.end);
    }
    if (from < span.end) out.push(piece(span, from, span.end));
  }
  return inTime(out);
}
