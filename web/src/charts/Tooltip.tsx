import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Hint {
  x: number; // of the plot, in pixels
  y: number;
  title: string;
  colour?: string;
  lines: [string, string][];
}

/** What a point is, beside it and always inside the plot. The pointer goes through it. */
export function Tooltip({ hint, width }: { hint: Hint | null; width: number }) {
  const ref = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const box = ref.current?.getBoundingClientRect();
    if (box && (box.width !== size.width || box.height !== size.height)) {
      setSize({ width: box.width, height: box.height });
    }
  });
  if (!hint) return null;
  const right = hint.x + 14 + size.width <= width;
  const left = right ? hint.x + 14 : Math.max(0, hint.x - 14 - size.width);
  const top = Math.max(0, hint.y - size.height / 2);
  return (
    <div ref={ref} class="chart-tooltip" aria-hidden="true" style={{ left: `${left}px`, top: `${top}px` }}>
      <strong>
        {hint.colour && <span class="chart-swatch" style={{ background: hint.colour }} />}
        {hint.title}
      </strong>
      <dl>
        {hint.lines.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** The same words for a screen reader. */
export function hintText(hint: Hint | null): string {
  return hint ? `${hint.title}. ${hint.lines.map(([name, value]) => `${name}: ${value}`).join("; ")}` : "";
}
