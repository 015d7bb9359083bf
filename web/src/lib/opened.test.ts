import { describe, expect, it } from "vitest";

import { Gate } from "./opened";

describe("long work", () => {
  it("begins at once on a page that its reader opened", () => {
    const begun: string[] = [];
    new Gate(false).whenOpen(() => begun.push("search"));
    expect(begun).toEqual(["search"]);
  });
  it("waits for the reader on a page that another site opened, and what was given up stays so", () => {
    const begun: string[] = [];
    const gate = new Gate(true);
    const giveUp = gate.whenOpen(() => begun.push("first"));
    gate.whenOpen(() => begun.push("second"));
    giveUp();
    expect(begun).toEqual([]);
    gate.open();
    gate.whenOpen(() => begun.push("third"));
    expect(begun).toEqual(["second", "third"]);
    expect(gate.isClosed).toBe(false);
  });
});
