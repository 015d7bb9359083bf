/** Round values for an axis of about `most` ticks. */
export function ticks([from, to]: readonly [number, number], most: number): number[] {
  const rough = (to - from) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const out: number[] = [];
  // + 0: of -0.00001 the ceiling is -0.
  for (let i = Math.ceil(from / step - 1e-9) + 0; i * step <= to + step * 1e-9; ++i) out.push(i * step);
  return out;
}
