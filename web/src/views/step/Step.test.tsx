import { renderToString } from "preact-render-to-string";
import { expect, test } from "vitest";

import { SumBar } from "../../charts/SumBar";
import { ticks } from "../../timeline/ticks";

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
