import { expect, test } from "vitest";

import { pinnedIn, pinText } from "./pinned";

test("what is pinned is read back from the address, whatever its letters", () => {
  const fields = { model: '{"name":"a&b=c"}', gpus: "64", "network-bandwidth": "50 GB/s" };
  expect(pinnedIn({ pin: pinText({ ...fields, pin: "x=1" }) })).toEqual(fields);
  expect(pinnedIn({ model: "a" })).toBeNull();
});
