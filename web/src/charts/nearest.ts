// Which point a pointer or a key means.

export interface Spot {
  x: number;
  y: number;
}

/** Index of the point nearest to (x, y) within `reach` pixels, or -1. */
export function nearestSpot(spots: readonly Spot[], x: number, y: number, reach = Infinity): number {
  let best = -1;
  let least = reach * reach;
  spots.forEach((spot, index) => {
    const distance = (spot.x - x) ** 2 + (spot.y - y) ** 2;
    if (distance <= least) {
      least = distance;
      best = index;
    }
  });
  return best;
}

/** Of each series the point nearest to `x` from side to side, within `reach` pixels; -1 where it has none. */
export function across(series: readonly { points: readonly Spot[] }[], x: number, reach: number): number[] {
  return series.map(({ points }) => nearestSpot(points.map(({ x: at, y }) => ({ x: at, y: Number.isNaN(y) ? NaN : 0 })), x, 0, reach));
}

export interface Place {
  series: number;
  index: number;
}

/** Where the arrow keys lead: left and right along a series, up and down to the neighbour of the next one. */
export function moved(series: readonly { points: readonly Spot[] }[], from: Place | null, key: string): Place | null {
  const filled = series.map((s, i) => ({ i, n: s.points.length })).filter((s) => s.n > 0);
  const start = filled[0];
  if (!start) return null;
  const current = from && series[from.series]?.points[from.index] ? from : null;
  if (!current) return { series: start.i, index: key === "End" ? start.n - 1 : 0 };
  const length = series[current.series]!.points.length;
  if (key === "ArrowRight") return { ...current, index: Math.min(current.index + 1, length - 1) };
  if (key === "ArrowLeft") return { ...current, index: Math.max(current.index - 1, 0) };
  if (key === "Home") return { ...current, index: 0 };
  if (key === "End") return { ...current, index: length - 1 };
  if (key !== "ArrowUp" && key !== "ArrowDown") return current;
  const at = filled.findIndex((s) => s.i === current.series);
  const next = filled[(at + (key === "ArrowDown" ? 1 : filled.length - 1)) % filled.length]!;
  const x = series[current.series]!.points[current.index]!.x;
  let index = 0;
  series[next.i]!.points.forEach((point, i) => {
    if (Math.abs(point.x - x) < Math.abs(series[next.i]!.points[index]!.x - x)) index = i;
  });
  return { series: next.i, index };
}

/** Where a key leads along `count` points in a row; null where it leads nowhere. `page`: points that Page
 * Up and Page Down pass over; 0: they lead nowhere. */
export function stepped(count: number, from: number | null, key: string, page = 0): number | null {
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: 1,
    ArrowLeft: -1,
    Home: -count,
    End: count,
    PageDown: page,
    PageUp: -page,
  };
  const step = steps[key];
  if (!step) return null;
  const now = from ?? (step > 0 ? -1 : 1);
  return Math.min(count - 1, Math.max(0, now + step));
}
