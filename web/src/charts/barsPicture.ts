// Bars of text as a drawing, for a file: what the page shows by elements of its own.

export interface PictureRow {
  readonly label: string;
  /** What stands at the end of its line. */
  readonly value: string;
  /** Laid end to end, as shares of a full bar. */
  readonly pieces: readonly { readonly share: number; readonly colour: string }[];
  /** A limit, as a share of a full bar. */
  readonly mark?: number;
  /** From and to, below the bar. */
  readonly range?: readonly [number, number];
}

export interface BarsPicture {
  readonly title: string;
  readonly rows: readonly PictureRow[];
  /** What the colours are, each with its text. */
  readonly key: readonly { readonly name: string; readonly colour: string; readonly text: string }[];
}

const kWidth = 640;
const kEdge = 16;
const kLine = 18;
const kBar = 14;

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** The drawing. `colour` gives what stands for a colour of the style sheet where there is none. */
export function barsSvg({ title, rows, key }: BarsPicture, colour: (css: string) => string): string {
  const out: string[] = [];
  const full = kWidth - 2 * kEdge;
  const ink = escaped(colour("var(--text)"));
  const text = (x: number, y: number, words: string, more = "") =>
    out.push(`<text x="${x}" y="${y}" fill="${ink}"${more}>${escaped(words)}</text>`);
  const box = (x: number, y: number, width: number, height: number, css: string) =>
    out.push(`<rect x="${x.toFixed(2)}" y="${y}" width="${width.toFixed(2)}" height="${height}" fill="${escaped(colour(css))}"/>`);
  let y = kEdge + 12;
  text(kEdge, y, title, ' font-weight="600"');
  for (const { label, value, pieces, mark, range } of rows) {
    y += kLine + 6;
    text(kEdge, y, label);
    text(kWidth - kEdge, y, value, ' text-anchor="end"');
    y += 6;
    let x = kEdge;
    for (const { share, colour: css } of pieces) {
      box(x, y, share * full, kBar, css);
      x += share * full;
    }
    if (mark !== undefined) box(kEdge + mark * full - 1, y - 3, 2, kBar + 6, "var(--text)");
    y += kBar;
    if (range) box(kEdge + range[0] * full, y + 4, Math.max(1, (range[1] - range[0]) * full), 2, "var(--text)");
    if (range) y += 8;
  }
  y += 6;
  for (const { name, colour: css, text: value } of key) {
    y += kLine;
    box(kEdge, y - 9, 10, 10, css);
    text(kEdge + 16, y, name);
    text(kWidth - kEdge, y, value, ' text-anchor="end"');
  }
  const height = y + kEdge;
  const ground = `<title>${escaped(title)}</title><rect width="100%" height="100%" fill="${escaped(colour("var(--back)"))}"/>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${kWidth} ${height}" width="${kWidth}" height="${height}"` +
    ` font-family="system-ui, sans-serif" font-size="12">${ground}${out.join("")}</svg>`
  );
}
