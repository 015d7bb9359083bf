// One number moved by a slider, with what it is against its base.
import { useId } from "preact/hooks";

import type { Problem } from "../lib/api";
import { factorText, positionOf, positions, valueAt, valueText, type Knob } from "../lib/knob";

export interface SliderProps {
  knob: Knob;
  value: number;
  problems: readonly Problem[];
  flat: { readonly low: number | null; readonly high: number | null } | null;
  onChange: (value: number) => void;
}

// "from 200 GB/s to 3.2 TB/s", "up to", "from ... on".
function rangeText(knob: Knob, { low, high }: NonNullable<SliderProps["flat"]>): string {
  const from = low === null ? "" : `from ${valueText(knob, low)} `;
  if (high === null) return low === null ? "whatever its value" : `${from}on`;
  return `${from || "up "}to ${valueText(knob, high)}`;
}

export function Slider({ knob, value, problems, flat, onChange }: SliderProps) {
  const id = useId();
  const [least, most] = positions(knob);
  const text = valueText(knob, value);
  const factor = factorText(knob, value);
  return (
    <div class={`knob ${factor ? "moved" : ""}`}>
      <label for={id}>{knob.label}</label>
      <output for={id}>
        {factor && <small>{factor} </small>}
        {text}
      </output>
      <input
        id={id}
        type="range"
        name={knob.key}
        min={least}
        max={most}
        step={1}
        value={positionOf(knob, value)}
        aria-valuetext={factor ? `${text}, ${factor} of the machine's` : text}
        aria-invalid={problems.length > 0 || undefined}
        onInput={(event) => onChange(valueAt(knob, Number(event.currentTarget.value)))}
      />
      <button
        type="button"
        class="quiet"
        aria-label={`${knob.label}: back to ${valueText(knob, knob.base)}`}
        title={`back to ${valueText(knob, knob.base)}`}
        disabled={!factor}
        onClick={() => onChange(knob.base)}
      >
        ↺
      </button>
      {flat && <p class="soft flat">does not bind: {rangeText(knob, flat)} neither limit moves</p>}
      {problems.map((problem) => (
        <p class="wrong" key={problem.message}>
          {problem.message}
        </p>
      ))}
    </div>
  );
}
