// The sliders of one setting of the reader's own.
import type { Problem } from "../../lib/api";
import type { MachineNumbers } from "./documents";
import { Slider } from "../../app/Slider";
import { knobsOf, usualPrecision } from "./knobs";
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
