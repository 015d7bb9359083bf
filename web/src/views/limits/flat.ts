// Over which places of a slider nothing changes: beside a number that does not bind the reader sees
// from where to where.
import { useEffect, useState } from "preact/hooks";

import { ask } from "../../lib/api";
import type { Fields } from "../../lib/url";
import { linearTo, wallOf } from "./curves";
import type { LimitsDocument, LimitsSetting, MachineNumbers } from "./documents";
import { positionOf, positions, valueAt, type Knob } from "../../lib/knob";
import { knobsOf, usualPrecision } from "./knobs";
import { edited, type OwnSetting } from "./settings";
import { requestOf } from "./state";

/** A knob and the values between which neither limit moves; null: to the end of the slider. */
export interface Flat {
  readonly key: string;
  readonly low: number | null;
  readonly high: number | null;
}

/** Whether both have the same limits, but for what no reader could see. */
export function isAlike(a: LimitsSetting, b: LimitsSetting): boolean {
  const near = (x: number | null, y: number | null) =>
    x === y || (x !== null && y !== null && Math.abs(x / y - 1) < 1e-3);
  return near(linearTo(a), linearTo(b)) && near(wallOf(a), wallOf(b));
}

/** The furthest place from `from` towards `end` up to which all are alike, if those that are lie together;
 * asks of as many as it has to halve. */
export async function furthestAlike(
  from: number,
  end: number,
  alike: (position: number) => Promise<boolean>,
): Promise<number> {
  const step = Math.sign(end - from);
  if (step === 0 || !(await alike(from + step))) return from;
  if (await alike(end)) return end;
  let yes = from + step;
  let no = end;
  while (Math.abs(no - yes) > 1) {
    const middle = Math.trunc((yes + no) / 2);
    if (await alike(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}

interface Touched {
  readonly id: string;
  readonly own: OwnSetting;
  readonly machine: MachineNumbers;
  readonly key: string;
}

const kRest = 500; // milliseconds without another move

async function flatOf({ own }: Touched, knob: Knob, fields: Fields, signal: AbortSignal): Promise<Flat | null> {
  const settingOf = async (setting: OwnSetting) =>
    (await ask<LimitsDocument>("limits", requestOf(setting, fields), signal, "low")).document.settings[0]!;
  const here = await settingOf(own);
  const from = positionOf(knob, own.edits[knob.key] ?? knob.base);
  const alike = async (position: number) =>
    isAlike(here, await settingOf(edited(own, knob.key, valueAt(knob, position), knob.base)));
  const [least, most] = positions(knob);
  const low = await furthestAlike(from, least, alike);
  const high = await furthestAlike(from, most, alike);
  if (low === from && high === from) return null;
  return {
    key: knob.key,
    low: low === least ? null : valueAt(knob, low),
    high: high === most ? null : valueAt(knob, high),
  };
}

/** Once the slider that was moved last rests: between which of its values nothing changes; null where
 * it binds. */
export function useFlat(touched: Touched | null, fields: Fields): Flat | null {
  const [flat, setFlat] = useState<Flat | null>(null);
  const text = touched && JSON.stringify([touched.id, touched.key, touched.own, fields.sparse]);
  useEffect(() => {
    setFlat(null);
    if (!touched) return;
    const knob = knobsOf(touched.machine, touched.own.precision || usualPrecision(touched.machine)).find(
      ({ key }) => key === touched.key,
    );
    if (!knob) return;
    const ending = new AbortController();
    const timer = setTimeout(() => {
      flatOf(touched, knob, fields, ending.signal).then(
        (found) => !ending.signal.aborted && setFlat(found),
        () => undefined, // what is wrong with the setting is said elsewhere
      );
    }, kRest);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [text]);
  return flat;
}
