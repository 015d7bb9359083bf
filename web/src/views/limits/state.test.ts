import { describe, expect, it } from "vitest";

import type { Fields } from "../../lib/url";
import { changed, fieldsOf, kFirst, requestsOf } from "./state";

// The fields of the address after a change.
function after(given: Fields, patch: Readonly<Record<string, string | undefined>>): Fields {
  const all = { ...given, ...changed(given, patch) };
  return Object.fromEntries(Object.entries(all).filter((field): field is [string, string] => Boolean(field[1])));
}

describe("the list of settings", () => {
  it("begins with the first picture, and has all of it in the address once it is changed", () => {
    expect(fieldsOf({})).toBe(kFirst);
    expect(after({}, { preset: "batch" })).toEqual({ ...kFirst, preset: "batch" });
  });
  it("stays empty when the last setting is taken away", () => {
    let fields: Fields = {};
    for (const name of Object.keys(kFirst)) fields = after(fields, { [name]: undefined });
    expect(fields).toEqual({ empty: "true" });
    expect(requestsOf(fieldsOf(fields)).size).toBe(0);
  });
  it("is not empty any more with one that is added", () => {
    expect(after({ empty: "true" }, { gpu: "b200" })).toEqual({ gpu: "b200" });
  });
  it("forgets what was edited and shown with the last setting, and the rest does not", () => {
    const given = { own1: "mine,base:b200", edit: "own1", show: "own1/mine", sparse: "true" };
    expect(after(given, { own1: undefined })).toEqual({ empty: "true", sparse: "true" });
    expect(after({ ...given, gpu: "b200" }, { own1: undefined })).toEqual({
      gpu: "b200",
      edit: "own1",
      show: "own1/mine",
      sparse: "true",
    });
  });
  it("has the pinned curve as long as there is a setting of the reader's own to stand beside it", () => {
    const own = { own1: "mine,base:b200" };
    const given = { ...own, pin: new URLSearchParams(own).toString() };
    const ids = (fields: Fields) => [...requestsOf(fields).keys()];
    expect(ids(given)).toEqual(["own1", "pin"]);
    expect(after(given, { own1: undefined })).toEqual({ empty: "true" });
    expect(ids(after({ ...given, gpu: "b200" }, { own1: undefined }))).toEqual(["gpu:b200"]);
  });
});
