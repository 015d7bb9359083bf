import { expect, test } from "vitest";

import { mostOf } from "./sentences";

test("a heading names the largest part, and the second where it is worth a word", () => {
  const parts = [{ name: "dp", value: 15 }, { name: "compute", value: 81 }, { name: "other", value: 4 }];
  expect(mostOf("the time", parts)).toBe("81.0 % of the time is compute, 15.0 % dp.");
  expect(mostOf("the time", [{ name: "compute", value: 1 }, { name: "dp", value: 0.001 }])).toBe("99.9 % of the time is compute.");
  expect(mostOf("the time", [{ name: "compute", value: 1 }])).toBe("100.0 % of the time is compute.");
  expect(mostOf("the time", [])).toBe("There is nothing of the time.");
});
