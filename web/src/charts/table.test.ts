import { describe, expect, it } from "vitest";

import { csvField, csvOf, numbers, sorted, type Column } from "./table";

interface R {
  name: string;
  time: number | null;
}
const name: Column<R> = { key: "name", head: "name", value: (r) => r.name };
const time: Column<R> = { key: "time_s", head: "time (s)", value: (r) => r.time };

describe("csv", () => {
  it("quotes what would break a row", () => {
    expect(csvField('two "words", one line')).toBe('"two ""words"", one line"');
    expect(csvField("a\nb")).toBe('"a\nb"');
    expect(csvField("plain text")).toBe("plain text");
  });
  it("lets no text be run as a formula, and leaves numbers alone", () => {
    expect(csvField("=1+1")).toBe("'=1+1");
    expect(csvField("@now")).toBe("'@now");
    expect(csvField(-1.5)).toBe("-1.5");
  });
  it("writes a head and a line for each row, empty where nothing is known", () => {
    const rows = [
      { name: "a", time: 0.25 },
      { name: "b", time: null },
    ];
    expect(csvOf([name, time], rows)).toBe("name,time_s\na,0.25\nb,\n");
  });
  it("keeps every digit", () => {
    expect(csvOf([time], [{ name: "", time: 0.1 + 0.2 }])).toContain("0.30000000000000004");
  });
});

describe("sorted", () => {
  const rows = [
    { name: "h10", time: 2 },
    { name: "h9", time: null },
    { name: "h2", time: 10 },
  ];
  it("sorts numbers as numbers, and puts what is missing last both ways", () => {
    expect(sorted(rows, time, false).map((r) => r.time)).toEqual([2, 10, null]);
    expect(sorted(rows, time, true).map((r) => r.time)).toEqual([10, 2, null]);
  });
  it("sorts names with numbers in them as people do", () => {
    expect(sorted(rows, name, false).map((r) => r.name)).toEqual(["h2", "h9", "h10"]);
  });
  it("leaves the rows that it was given as they are", () => {
    sorted(rows, time, true);
    expect(rows[0]!.name).toBe("h10");
  });
});

describe("numbers", () => {
  const column = numbers("time", "time", (row: { time: number | null }) => row.time, (value) => `${value} s`);
  it("are read with their unit, and written to a file without", () => {
    expect(column.text!({ time: 2 })).toBe("2 s");
    expect(csvOf([column], [{ time: 2 }])).toBe("time\n2\n");
  });
  it("are a dash where there are none, which no unit hides", () => {
    expect(column.text!({ time: null })).toBe("–");
    expect(column.text!({ time: 0 })).toBe("0 s");
  });
});
