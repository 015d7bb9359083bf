import { expect, test } from "vitest";

import { headway } from "../../tests/command";
import { grouped, matching } from "./makers";

const listed = (what: "models" | "clusters") => headway<Record<string, string[]>>("list", what)[what]!;

test("every built-in model and cluster has a maker", () => {
  for (const kind of ["models", "clusters"] as const) {
    const names = listed(kind);
    const groups = grouped(kind, names);
    expect(groups.find(({ title }) => title === "Not known")?.names ?? [], kind).toEqual([]);
    expect(groups.flatMap((group) => group.names).sort()).toEqual([...names].sort());
  }
});

test("names are found by parts of themselves and of their maker's", () => {
  const groups = grouped("models", ["llama-3.1-8b", "llama-3.1-70b", "qwen3-8b", "gemma-7b"]);
  expect(matching(groups, "meta 70")).toEqual([{ title: "Meta: Llama", names: ["llama-3.1-70b"] }]);
  expect(matching(groups, "8B").map(({ title }) => title)).toEqual(["Meta: Llama", "Alibaba: Qwen"]);
  expect(matching(groups, "nothing such")).toEqual([]);
});

test("within a maker numbers stand as numbers", () => {
  expect(grouped("models", ["llama-3.1-70b", "llama-3.1-8b"])[0]!.names).toEqual(["llama-3.1-8b", "llama-3.1-70b"]);
});
