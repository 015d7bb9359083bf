import { renderToString } from "preact-render-to-string";
import { expect, test } from "vitest";

import { SumBar } from "../../charts/SumBar";
import type { PredictDocument } from "../../lib/documents";
import { pipelineTime } from "./run";
import { ticks } from "./ticks";

test("ticks are round and lie inside", () => {
  expect(ticks([0, 10], 5)).toEqual([0, 2, 4, 6, 8, 10]);
  expect(ticks([17.2, 18.4], 4)).toEqual([17.5, 18]);
});

test("a bar names its sum, its parts and what it is held against", () => {
  const html = renderToString(
    <SumBar
      title="Bytes"
      whole="memory"
      parts={[
        { name: "weights", value: 30, colour: "red" },
        { name: "rest", value: 10, colour: "blue" },
      ]}
      text={(value) => `${value} B`}
      limit={{ name: "capacity", value: 80 }}
    />,
  );
  expect(html).toContain("40 B");
  expect(html).toContain("75.0 %");
  expect(html).toContain("50.0 % of capacity");
});

// Three classes of stages: one, two alike, and the last, which sets the pace.
const kStep = {
  layout: { schedule: "1f1b", vpp: 1, micro_batches: 10 },
  parts_s: { bubble: 5 },
  pipeline: {
    send_s: 0.1,
    stages: [
      { first: 0, stages: 1, forward_s: 1, backward_s: 2, weight_gradient_s: 1, transfers_s: 0.1, sets_pace: false },
      { first: 1, stages: 2, forward_s: 1, backward_s: 2, weight_gradient_s: 1, transfers_s: 0.2, sets_pace: false },
      { first: 3, stages: 1, forward_s: 2, backward_s: 3, weight_gradient_s: 1, transfers_s: 0.1, sets_pace: true },
    ],
  },
} as unknown as PredictDocument;

test("the pipeline takes what the pace stage works, sends and waits", () => {
  expect(pipelineTime(kStep)).toBeCloseTo(10 * (2 + 3 + 0.1) + 5);
});
