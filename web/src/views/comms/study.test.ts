import { describe, expect, it } from "vitest";

import type { StudiedModel, StudiedRun, StudyDocument } from "./documents";
import { bySequence, exposedRows, formOf, runsOf, studyPart, tensorShare, timesWeights } from "./study";

const run = (patch: Partial<StudiedRun>): StudiedRun => ({
  part: "data",
  model: "gpt-neox-19m",
  seq: 2048,
  layout: { gpus: 4, dp: 4, tp: 1, pp: 1, micro_batch: 4, zero: 0 },
  step_time_s: 2,
  tokens_per_s_per_gpu: 1000,
  fits: true,
  calls: 3,
  wire_bytes: 300,
  wire_bytes_by_op: { all_reduce: 150, all_gather: 75 },
  wire_bytes_by_group: { dp: 225, tp: 75 },
  exposed_s: 0.5,
  smallest_bytes: 4,
  median_bytes: 100,
  largest_bytes: 200,
  small: { calls: 1, wire_bytes: 4, time_s: 0.1 },
  ...patch,
});
const study: StudyDocument = {
  cluster: "frontier",
  models: [{ model: "gpt-neox-19m", weight_bytes: 100 } as StudiedModel],
  runs: [run({}), run({ part: "sequence", seq: 512, tokens_per_s_per_gpu: 10 }), run({ part: "sequence", seq: 1024 })],
};

describe("the study", () => {
  it("has a part for each kind of parallelism; an unknown name is the first", () => {
    expect(studyPart("sequence")).toBe("sequence");
    expect(studyPart("sideways")).toBe("data");
    expect(runsOf(study, "sequence")).toHaveLength(2);
  });
  it("names a run by what differs in its part", () => {
    const layout = { gpus: 64, dp: 8, tp: 4, pp: 2, micro_batch: 4, zero: 3 };
    const parts = ["data", "tensor", "pipeline", "combined", "sequence"] as const;
    const names = ["ZeRO 3", "tensor 4", "2 stages", "dp 8 tp 4 pp 2", "2,048 tokens"];
    expect(parts.map((part) => formOf(run({ part, layout })))).toEqual(names);
  });
  it("counts what is sent in times the weights: an all-reduce is two, a gather one", () => {
    // m = 100 over four ranks: m (d - 1)/d = 75.
    expect(timesWeights(study)[0]).toMatchObject({ label: "19m ZeRO 0", parts: { all_reduce: 2, all_gather: 1 } });
  });
  it("has exposed calls as shares of the step", () => {
    expect(exposedRows(runsOf(study, "data"))[0]!.parts).toEqual({ exposed: 0.25 });
  });
  it("has a curve for each model over the length of the sequence", () => {
    const [line] = bySequence(study, (each) => each.tokens_per_s_per_gpu, "tokens/s", String);
    expect(line!.points.map(({ x, y }) => [x, y])).toEqual([
      [512, 10],
      [1024, 1000],
    ]);
    expect(tensorShare(run({}))).toBe(0.25);
    expect(tensorShare(run({ wire_bytes_by_group: { dp: 300 } }))).toBe(0);
  });
});
