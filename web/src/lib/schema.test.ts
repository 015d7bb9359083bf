import { expect, test } from "vitest";

import { chosenSchema, type RequestSchema } from "./schema";

const request = (sweep: string, help: string): RequestSchema => ({
  properties: { sweep: { const: sweep }, at: { description: help } },
});

test("a command with several requests helps with the fields of the one that is meant", () => {
  const scale: RequestSchema = { oneOf: [request("strong", "accelerators"), request("model", "names")] };
  expect(chosenSchema(scale, "model").properties!.at!.description).toBe("names");
  expect(chosenSchema(scale, "sideways")).toBe(scale);
});

test("a command with one request has no others", () => {
  const predict: RequestSchema = { properties: { at: { description: "of predict" } } };
  expect(chosenSchema(predict, undefined)).toBe(predict);
});
