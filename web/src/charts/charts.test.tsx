import renderToString from "preact-render-to-string";
import { describe, expect, it } from "vitest";

import { Columns } from "./Columns";
import { DataTable } from "./DataTable";
import { LineChart } from "./LineChart";
import { kPartCategories, seriesColour, seriesDash } from "./palette";
import { StackedBars } from "./StackedBars";

// Drawn without a browser, a chart is 640 px wide.

describe("LineChart", () => {
  const drawn = renderToString(
    <LineChart
      title="Throughput"
      x={{ label: "accelerators", kind: "log", base: 2, domain: [8, 64] }}
      y={{ label: "tokens/s", kind: "linear", domain: [0, 100] }}
      series={[
        {
          id: "a",
          name: "own network",
          colour: "red",
          points: [
            { x: 8, y: 10, low: 5, high: 20 },
            { x: 16, y: null },
            { x: 64, y: 90, low: 70, high: 99 },
          ],
        },
        { id: "b", name: "another", colour: "blue", points: [{ x: 8, y: 5 }] },
      ]}
      markers={[
        { x: 32, label: "crossover" },
        { x: 4096, label: "far outside" },
      ]}
    />,
  );
  it("names both axes with their units", () => {
    expect(drawn).toContain(">accelerators</text>");
    expect(drawn).toContain(">tokens/s</text>");
  });
  it("breaks a curve where a value is missing", () => {
    const path = /class="chart-line" d="([^"]+)"/.exec(drawn)![1]!;
    expect(path.match(/M/g)).toHaveLength(2);
  });
  it("draws bands where an interval is known and markers inside the axes only", () => {
    expect(drawn).toContain('fill-opacity="0.16"');
    expect(drawn).toContain("crossover");
    expect(drawn).not.toContain("far outside");
  });
  it("can be reached by keys and says so", () => {
    expect(drawn).toMatch(/tabindex="0"[^>]*aria-label="Throughput\. Arrow keys/i);
    expect(drawn).toContain('aria-pressed="true"');
  });
});

describe("Columns", () => {
  it("draws pieces whose heights are as their values", () => {
    const drawn = renderToString(
      <Columns
        title="Parts"
        xLabel="accelerators"
        y={{ label: "seconds", kind: "linear", domain: [0, 4] }}
        rows={[{ label: "8", parts: { compute: 3, dp: 1 } }]}
        categories={kPartCategories}
        text={(v) => `${v} s`}
      />,
    );
    const heights = [...drawn.matchAll(/<rect[^>]* height="([\d.]+)"[^>]*part/g)].map((m) => Number(m[1]));
    expect(heights).toHaveLength(2);
    expect(heights[0]! / heights[1]!).toBeCloseTo(3, 9);
  });
});

describe("StackedBars", () => {
  it("gives each piece its share of the longest bar", () => {
    const drawn = renderToString(
      <StackedBars
        title="Memory"
        rows={[
          { label: "rank 0", parts: { compute: 3, tp: 1 } },
          { label: "rank 1", parts: { compute: 2 } },
        ]}
        categories={kPartCategories}
        text={(v) => `${v} s`}
      />,
    );
    expect([...drawn.matchAll(/width:([\d.]+)%/g)].map((m) => Number(m[1]))).toEqual([75, 25, 50]);
    expect(drawn).toContain("compute 3 s, tp 1 s");
  });
});

describe("DataTable", () => {
  const columns = [{ key: "n", head: "number", value: (n: number) => n }];
  it("shows the first rows and says how many more there are", () => {
    const drawn = renderToString(<DataTable caption="Numbers" columns={columns} rows={[1, 2, 3, 4]} most={3} />);
    expect(drawn.match(/<td/g)).toHaveLength(3);
    expect(drawn).toContain("1 more rows");
  });
  it("escapes text from outside", () => {
    const text = [{ key: "t", head: "t", value: (t: string) => t }];
    expect(renderToString(<DataTable caption="x" columns={text} rows={["<b>&"]} />)).toContain("&lt;b>&amp;");
  });
});

describe("colours", () => {
  it("of eight series differ, and further ones differ by their dashes", () => {
    const looks = Array.from({ length: 24 }, (_, i) => `${seriesColour(i)} ${seriesDash(i)}`);
    expect(new Set(looks).size).toBe(24);
    expect(new Set(looks.slice(0, 8).map((l) => l.split(" ")[0])).size).toBe(8);
  });
});
