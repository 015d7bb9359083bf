import { scaleOf, ticksOf, type Axis, type Scale } from "./scales";

export interface Margin {
  top: number;
  right: number;
  bottom: number;
  left: number;
}

export interface Plot {
  width: number; // of the whole drawing
  height: number;
  margin: Margin;
  x: Scale;
  y: Scale;
}

const kCharacter = 6.7; // px, of the ticks' 11.5 px digits

/** Room for the labels of the ordinate, as wide as they are. */
export function marginFor(y: Axis, height: number): Margin {
  const widest = Math.max(...ticksOf(y, Math.max(2, height / 48)).map((t) => t.label.length), 2);
  return { top: 12, right: 14, bottom: 44, left: Math.ceil(widest * kCharacter) + 34 };
}

export function plotOf(x: Axis, y: Axis, width: number, height: number, margin: Margin): Plot {
  return {
    width,
    height,
    margin,
    x: scaleOf(x, [margin.left, Math.max(margin.left + 10, width - margin.right)]),
    y: scaleOf(y, [height - margin.bottom, margin.top]),
  };
}

/** Lines, numbers and names of both axes; `bare`: the abscissa's numbers are written by others. */
export function Axes({ plot, x, y, bare }: { plot: Plot; x?: Axis; y: Axis; bare?: boolean }) {
  const { margin, width, height } = plot;
  const bottom = height - margin.bottom;
  const right = width - margin.right;
  const xTicks = x && !bare ? ticksOf(x, Math.max(2, Math.floor((right - margin.left) / 72))) : [];
  const yTicks = ticksOf(y, Math.max(2, Math.floor((bottom - margin.top) / 44)));
  return (
    <g class="chart-axes">
      {yTicks.map((tick) => (
        <g key={`y${tick.value}`} transform={`translate(0,${plot.y(tick.value)})`}>
          <line class={tick.label ? "chart-grid" : "chart-grid chart-minor"} x1={margin.left} x2={right} />
          <text x={margin.left - 7} dy="0.32em" text-anchor="end">
            {tick.label}
          </text>
        </g>
      ))}
      {xTicks.map((tick) => (
        <g key={`x${tick.value}`} transform={`translate(${plot.x(tick.value)},${bottom})`}>
          <line class="chart-grid" y1={0} y2={tick.label ? 5 : 3} />
          <text y={18} text-anchor="middle">
            {tick.label}
          </text>
        </g>
      ))}
      <line class="chart-axis" x1={margin.left} x2={right} y1={bottom} y2={bottom} />
      {x && (
        <text class="chart-name" x={(margin.left + right) / 2} y={height - 6} text-anchor="middle">
          {x.label}
        </text>
      )}
      <text
        class="chart-name"
        transform={`translate(12,${(margin.top + bottom) / 2}) rotate(-90)`}
        text-anchor="middle"
      >
        {y.label}
      </text>
    </g>
  );
}
