import { expect, test } from "vitest";

import { barsSvg, type BarsPicture } from "./barsPicture";

const kPicture: BarsPicture = {
  title: "Time & parts",
  rows: [
    {
      label: "step <1>",
      value: "4 s",
      pieces: [
        { share: 0.25, colour: "var(--a)" },
        { share: 0.5, colour: "var(--b)" },
      ],
      mark: 1,
      range: [0.5, 0.75],
    },
  ],
  key: [
    { name: "compute", colour: "var(--a)", text: "1 s" },
    { name: "bubble", colour: "var(--b)", text: "2 s" },
  ],
};

const widths = (svg: string, fill: string) =>
  [...svg.matchAll(/<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="14" fill="([^"]+)"/g)]
    .filter(([, , , colour]) => colour === fill)
    .map(([, x, width]) => [Number(x), Number(width)]);

test("pieces lie end to end, as long as their shares of a full bar", () => {
  const svg = barsSvg(kPicture, (css) => css.replace(/var\(--(.*)\)/, "$1"));
  const [[begin, a]] = widths(svg, "a") as [[number, number]];
  const [[next, b]] = widths(svg, "b") as [[number, number]];
  expect(b / a).toBeCloseTo(2);
  expect(next).toBeCloseTo(begin + a);
  expect(svg).not.toContain("var("); // a file has no style sheet
});

test("every word is text, whatever it holds", () => {
  const svg = barsSvg(kPicture, () => "red");
  for (const words of ["Time &#38; parts", "step &#60;1&#62;", "4 s", "compute", "1 s", "bubble", "2 s"]) expect(svg).toContain(`>${words}<`);
});
