// A form over fields of a run: a few stand open, the rest is folded away by group. Labels, help, legal values,
// and each problem beside its field with what would be right.
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";

import type { Problem } from "../lib/api";
import { count } from "../lib/format";
import { names } from "../lib/lists";
import { grouped } from "../lib/makers";
import { fieldChoices, fieldHelp } from "../lib/schema";
import { nameOf, type FieldGroup, type RunField } from "../lib/run";
import type { Fields } from "../lib/url";
import { Combobox } from "./Combobox";

export interface FormProps {
  /** Whose schema helps with the fields. */
  readonly command: string;
  readonly groups: readonly FieldGroup[];
  readonly fields: Fields;
  readonly problems: readonly Problem[];
  /** What a field that is left empty comes to, for its placeholder. */
  readonly taken?: Readonly<Record<string, string>>;
  readonly onChange: (name: string, value: string) => void;
}

export function Form(props: FormProps) {
  return (
    <form class="fields" onSubmit={(event) => event.preventDefault()} autocomplete="off">
      {props.groups.map((group) => (
        <Group key={group.title} group={group} {...props} />
      ))}
    </form>
  );
}

function Group({ group, ...props }: FormProps & { group: FieldGroup }) {
  const used = group.fields.filter((field) => props.fields[field.name]).length;
  const wrong = group.fields.some((field) => props.problems.some((problem) => problem.where === field.name));
  const [open, setOpen] = useState(wrong);
  // What is wrong is not hidden; what the reader opened stays.
  useEffect(() => {
    if (wrong) setOpen(true);
  }, [wrong]);
  const body = (
    <div class="grid">
      {group.fields.map((field) => (
        <FieldRow key={field.name} field={field} {...props} />
      ))}
    </div>
  );
  const about = group.about && <p class="soft about">{group.about}</p>;
  if (!group.folded) {
    return (
      <fieldset>
        <legend>{group.title}</legend>
        {about}
        {body}
      </fieldset>
    );
  }
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {group.title} {used > 0 && <span class="badge">{used} set</span>}
      </summary>
      {about}
      {body}
    </details>
  );
}

// Draws a field again where something of its own changed: a form has a hundred, of which one is typed into.
function FieldRow({ field, fields, problems, taken, command, onChange }: FormProps & { field: RunField }) {
  const value = fields[field.name] ?? "";
  const mine = problems.filter((problem) => problem.where === field.name || problem.where.startsWith(`${field.name}.`));
  const latest = useRef(onChange);
  latest.current = onChange;
  const empty = taken?.[field.name];
  return useMemo(
    () => (
      <OneField
        field={field}
        value={value}
        mine={mine}
        taken={empty}
        command={command}
        onChange={(...changed) => latest.current(...changed)}
      />
    ),
    [field, value, JSON.stringify(mine), empty, command],
  );
}

interface OneFieldProps extends Pick<FormProps, "command" | "onChange"> {
  readonly field: RunField;
  readonly value: string;
  readonly mine: readonly Problem[];
  readonly taken: string | undefined;
}

function OneField({ field, value, mine, taken, command, onChange }: OneFieldProps) {
  const id = useId();
  const help = fieldHelp(command, field.name);
  const wrong = mine.length > 0;
  const input = {
    id,
    name: field.name,
    "aria-invalid": wrong || undefined,
    "aria-describedby": wrong ? `${id}-wrong` : help ? `${id}-help` : undefined,
  };
  const change = (event: Event) => onChange(field.name, (event.target as HTMLInputElement).value.trim());
  const list = field.kind === "model" ? "models" : field.kind === "cluster" ? "clusters" : null;
  const offers = [...new Set(mine.flatMap((problem) => problem.near ?? []))];
  return (
    // What is wrong needs room.
    <div class={`field ${field.kind} ${list || wrong ? "wide" : ""}`}>
      <label for={id}>
        {field.label}
        {field.unit && <span class="unit"> {field.unit}</span>}
      </label>
      {field.kind === "switch" ? (
        <input
          {...input}
          type="checkbox"
          checked={value === "true"}
          onChange={(event) => onChange(field.name, event.currentTarget.checked ? "true" : "")}
        />
      ) : list ? (
        <Combobox
          input={input}
          value={value}
          shown={nameOf(value)}
          groups={grouped(list, names(list))}
          onChange={(name) => onChange(field.name, name)}
        />
      ) : field.kind === "choice" ? (
        <select {...input} value={value} onChange={change}>
          {options(field, value, command, taken)}
        </select>
      ) : (
        <input
          {...input}
          type="text"
          inputMode={field.kind === "text" ? "text" : "decimal"}
          value={value}
          placeholder={taken ?? ""}
          onInput={change}
        />
      )}
      {wrong && (
        <div class="wrong" id={`${id}-wrong`}>
          {mine.map((problem) => (
            <p key={problem.message}>{problem.message}</p>
          ))}
        </div>
      )}
      {offers.length > 0 && (
        <p class="buttons">
          {offers.map((offer) => (
            <button type="button" key={offer} onClick={() => onChange(field.name, String(offer))}>
              Take {count(offer)}
            </button>
          ))}
        </p>
      )}
      {help && !wrong && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}

function options(field: RunField, value: string, command: string, taken?: string) {
  const schema = fieldChoices(command, field.name);
  const list = [...(schema.length > 0 ? schema : (field.choices ?? []))];
  // A value that nobody offers stands there all the same, so that its problem can be seen.
  if (value !== "" && !list.includes(value)) list.unshift(value);
  return (
    <>
      <option value="">{taken ? `auto (${taken})` : "auto"}</option>
      {list.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </>
  );
}
