// A form over fields of a run: labels, help, legal values, and each problem beside its field.
import { useId } from "preact/hooks";

import type { Problem } from "../lib/api";
import { names } from "../lib/lists";
import { fieldChoices, fieldHelp } from "../lib/schema";
import type { FieldGroup, RunField } from "../lib/run";
import type { Fields } from "../lib/url";

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
  const body = (
    <div class="grid">
      {group.fields.map((field) => (
        <FieldRow key={field.name} field={field} {...props} />
      ))}
    </div>
  );
  if (!group.folded) {
    return (
      <fieldset>
        <legend>{group.title}</legend>
        {body}
      </fieldset>
    );
  }
  const used = group.fields.filter((field) => props.fields[field.name]).length;
  return (
    <details open={used > 0}>
      <summary>
        {group.title} {used > 0 && <span class="badge">{used}</span>}
      </summary>
      {body}
    </details>
  );
}

function FieldRow({ field, fields, problems, taken, command, onChange }: FormProps & { field: RunField }) {
  const id = useId();
  const mine = problems.filter((problem) => problem.where === field.name);
  const help = fieldHelp(command, field.name);
  const wrong = mine.length > 0;
  const input = {
    id,
    name: field.name,
    title: help,
    "aria-invalid": wrong || undefined,
    "aria-describedby": wrong ? `${id}-wrong` : undefined,
  };
  const value = fields[field.name] ?? "";
  const change = (event: Event) => onChange(field.name, (event.target as HTMLInputElement).value.trim());
  const named = field.kind === "model" || field.kind === "cluster";
  return (
    // What is wrong needs room.
    <div class={`field ${field.kind} ${named || wrong ? "wide" : ""}`}>
      <label for={id} title={help}>
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
      ) : named || field.kind === "choice" ? (
        <select {...input} value={value} onChange={change}>
          {options(field, value, command, taken?.[field.name])}
        </select>
      ) : (
        <input
          {...input}
          type="text"
          inputMode={field.kind === "text" ? "text" : "decimal"}
          value={value}
          placeholder={taken?.[field.name] ?? ""}
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
    </div>
  );
}

function options(field: RunField, value: string, command: string, taken?: string) {
  const named = field.kind === "model" ? names("models") : field.kind === "cluster" ? names("clusters") : null;
  const schema = named ? [] : fieldChoices(command, field.name);
  const list = [...(named ?? (schema.length > 0 ? schema : (field.choices ?? [])))];
  // A value that nobody offers stands there all the same, so that its problem can be seen.
  if (value !== "" && !list.includes(value)) list.unshift(value);
  return (
    <>
      {!named && <option value="">{taken ? `auto (${taken})` : "auto"}</option>}
      {list.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </>
  );
}
