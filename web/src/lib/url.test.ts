import { expect, test } from "vitest";

import { parsePlace, placeText } from "./url";

test("a place and its text are the same thing", () => {
  const place = { view: "step", fields: { model: "llama-3.1-70b", tp: "8", software: "2025-06" } };
  expect(placeText(place)).toBe("#/step?model=llama-3.1-70b&tp=8&software=2025-06");
  expect(parsePlace(placeText(place))).toEqual(place);
});

test("values of any letters survive", () => {
  const fields = { headroom: "10%", name: "a&b=c #d +e \u00e4", list: "x,y", empty: "" };
  const { fields: back } = parsePlace(placeText({ view: "plan", fields }));
  expect(back).toEqual({ headroom: "10%", name: "a&b=c #d +e \u00e4", list: "x,y" });
});

test("an address of something else is a place without a view", () => {
  for (const hash of ["", "#", "#content", "#/", "#//?x"]) {
    expect(parsePlace(hash).view).toBe("");
  }
});

test("names that objects have by themselves are fields like others", () => {
  const { fields } = parsePlace("#/step?constructor=1&toString=2");
  expect(fields.constructor).toBe("1");
  expect(fields.toString).toBe("2");
});
