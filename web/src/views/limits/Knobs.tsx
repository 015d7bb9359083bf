// The sliders of one setting of the reader's own.
import { useId } from "preact/hooks";

import type { Problem } from "../../lib/api";
import type { MachineNumbers } from "./documents";
import { factorText, knobsOf, positionOf, positions, usualPrecision, valueAt, valueText, type Knob } from "./knobs";
import type { Flat } from "./flat";
import { edited, type OwnSetting } from "./settings";

interface Props {
  own: OwnSetting;
  machine: MachineNumbers;
  problems: readonly Problem[];
  /** Where the slider that was moved last does not bind. */
  flat: Flat | null;
  onChange: (own: OwnSetting, key: string) => void;
}

const kGroups = ["Network", "Arithmetic", "Memory", "Run and models"] as const;

export function Knobs({ own, machine, problems, flat, onChange }: Props) {
  const knobs = knobsOf(machine, own.precision || usualPrecision(machine));
  return (
    <>
      {kGroups.map((group) => {
        const mine = knobs.filter((knob) => knob.group === group);
        const changed = mine.filter((knob) => own.edits[knob.key] !== undefined).length;
        return (
          <details key={group} open={group === "Network" || changed > 0}>
            <summary>
              {group} {changed > 0 && <span class="badge">{changed}</span>}
            </summary>
            {mine.map((knob) => (
              <Slider
                key={knob.key}
                knob={knob}
                value={own.edits[knob.key] ?? knob.base}
                problems={problems.filter(({ where }) => where === knob.key || where.endsWith(`.${knob.key}`))}
                flat={flat?.key === knob.key ? flat : null}
                onChange={(value) => onChange(edited(own, knob.key, value, knob.base), knob.key)}
              />
            ))}
          </details>
        );
      })}
    </>
  );
}

interface SliderProps {
  knob: Knob;
  value: number;
  problems: readonly Problem[];
  flat: Flat | null;
  onChange: (value: number) => void;
}

// "from 200 GB/s to 3.2 TB/s", "up to", "from ... on".
function rangeText(knob: Knob, { low, high }: Flat): string {
  const from = low === null ? "" : `from ${valueText(knob, low)} `;
  if (high === null) return low === null ? "whatever its value" : `${from}on`;
  return `${from || "up "}to ${valueText(knob, high)}`;
}

function Slider({ knob, value, problems, flat, onChange }: SliderProps) {
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
