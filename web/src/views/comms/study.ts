// The communication study's runs as they are drawn and told.
import type { LineSeries } from "../../charts/LineChart";
import { seriesColour } from "../../charts/palette";
import type { Row } from "../../charts/stack";
import { numbers, type Column } from "../../charts/table";
import { bytes, count, many, number, percent, seconds } from "../../lib/format";
import { kStudyParts, type StudiedModel, type StudiedRun, type StudyDocument, type StudyPart } from "./documents";

export const kStudyNames: Readonly<Record<StudyPart, string>> = {
  data: "Data parallelism",
  tensor: "Tensor parallelism",
  pipeline: "Pipeline parallelism",
  combined: "All three together",
  sequence: "Sequence length",
};

/** What each part asks, as its runs were made (docs/communication.md). */
export const kStudyTitles: Readonly<Record<StudyPart, string>> = {
  data: "Data parallelism over 64 ranks, one micro-batch",
  tensor: "Tensor parallelism in one node, a micro-batch of 4",
  pipeline: "Pipeline parallelism in one node, 16 micro-batches of 4",
  combined: "All three together",
  sequence: "Sequence length: tensor 4 x data 16, one sequence a micro-batch",
};

/** The part that the address names; the first where it names none that is known. */
export function studyPart(text: string | undefined): StudyPart {
  return kStudyParts.find((part) => part === text) ?? kStudyParts[0];
}

export function runsOf(study: StudyDocument, part: StudyPart): StudiedRun[] {
  return study.runs.filter((run) => run.part === part);
}

/** "gpt-neox-1.3b" is 1.3b there, where all are GPT-NeoX. */
export const shortName = (model: string): string => model.replace(/^gpt-neox-/, "");

/** What tells a run from the others of its part. */
export function formOf(run: StudiedRun): string {
  const { tp, pp, dp, zero } = run.layout;
  if (run.part === "data") return `ZeRO ${zero}`;
  if (run.part === "tensor") return `tensor ${tp}`;
  if (run.part === "pipeline") return `${pp} stages`;
  if (run.part === "sequence") return `${count(run.seq)} tokens`;
  return `dp ${dp} tp ${tp} pp ${pp}`;
}

/** The share of the step for which calls keep a rank from its work. */
export const exposedShare = (run: StudiedRun): number => run.exposed_s / run.step_time_s;

export function exposedRows(runs: readonly StudiedRun[]): Row[] {
  return runs.map((run) => ({
    label: `${shortName(run.model)} ${formOf(run)}`,
    parts: { exposed: exposedShare(run) },
    detail: [
      ["a rank sends", bytes(run.wire_bytes)],
      ["step", seconds(run.step_time_s)],
    ],
  }));
}

/** What a rank sends to be one of d that share a model, over m (d - 1)/d with m the bytes of its weights:
 * 2 for an all-reduce, 1 for a gather. */
export function timesWeights(study: StudyDocument): Row[] {
  return runsOf(study, "data").map((run) => {
    const weights = study.models.find(({ model }) => model === run.model)?.weight_bytes ?? NaN;
    const each = (weights * (run.layout.dp - 1)) / run.layout.dp;
    return {
      label: `${shortName(run.model)} ${formOf(run)}`,
      parts: Object.fromEntries(Object.entries(run.wire_bytes_by_op).map(([op, sent]) => [op, sent / each])),
      detail: [["a rank sends", bytes(run.wire_bytes)]],
    };
  });
}

/** One curve for each model over the length of the sequence. */
export function bySequence(
  study: StudyDocument,
  value: (run: StudiedRun) => number,
  name: string,
  text: (value: number) => string,
): LineSeries[] {
  return study.models.map(({ model }, index) => ({
    id: model,
    name: shortName(model),
    colour: seriesColour(index),
    dots: true,
    points: runsOf(study, "sequence")
      .filter((run) => run.model === model)
      .map((run) => ({
        x: run.seq,
        y: value(run),
        title: `${shortName(model)}, ${count(run.seq)} tokens`,
        lines: [
          [name, text(value(run))],
          ["a rank sends", bytes(run.wire_bytes)],
          ["exposed", percent(exposedShare(run))],
        ],
      })),
  }));
}

/** Of the bytes that a rank sends, those of tensor parallelism. */
export function tensorShare(run: StudiedRun): number {
  return (run.wire_bytes_by_group.tp ?? 0) / run.wire_bytes;
}

export const kModelColumns: Column<StudiedModel>[] = [
  { key: "model", head: "model", value: (m) => m.model, align: "left" },
  numbers("parameters", "parameters", (m) => m.parameters, many),
  numbers("weight_bytes", "their bytes m", (m) => m.weight_bytes, bytes),
  numbers("gradient_wire_bytes_8_ranks", "gradients over 8 ranks", (m) => m.gradient_wire_bytes_8_ranks, bytes),
  numbers("gradient_calls_zero_1", "calls at ZeRO-1", (m) => m.gradient_calls_zero_1, count),
  numbers("activation_bytes", "message b s h", (m) => m.activation_bytes, bytes),
  numbers("tensor_all_reduces_in_layers", "all-reduces in layers", (m) => m.tensor_all_reduces_in_layers, count),
  numbers("tensor_all_reduces", "with the ends", (m) => m.tensor_all_reduces, count),
  numbers("tensor_bytes_in_layers", "bytes in layers", (m) => m.tensor_bytes_in_layers, bytes),
  numbers("boundary_bytes", "a boundary of stages", (m) => m.boundary_bytes, bytes),
];

// A mean over ranks need not be whole.
const calls = (value: number) => (Number.isInteger(value) ? count(value) : number(value));

export const kRunColumns: Column<StudiedRun>[] = [
  { key: "model", head: "model", value: (r) => shortName(r.model), align: "left" },
  { key: "form", head: "form", value: formOf, align: "left" },
  numbers("calls", "calls", (r) => r.calls, calls),
  numbers("wire_bytes", "a rank sends", (r) => r.wire_bytes, bytes),
  numbers("smallest_bytes", "smallest", (r) => r.smallest_bytes, bytes),
  numbers("median_bytes", "median", (r) => r.median_bytes, bytes),
  numbers("largest_bytes", "largest", (r) => r.largest_bytes, bytes),
  numbers("small_calls", "small calls", (r) => r.small.calls / r.calls, percent),
  numbers("small_bytes", "their bytes", (r) => r.small.wire_bytes / r.wire_bytes, percent),
  numbers("exposed", "exposed", exposedShare, percent),
  numbers("step_time_s", "step", (r) => r.step_time_s, seconds),
  numbers("tokens_per_s_per_gpu", "tokens/s each", (r) => r.tokens_per_s_per_gpu, count),
  { key: "fits", head: "fits", value: (r) => (r.fits ? "yes" : "no"), align: "left" },
];
