// Which settings stand side by side.
import { setFields, type Fields } from "../../lib/url";
import type { MachineNumbers } from "./documents";
import { ownText, ownsOf, type OwnSetting } from "./settings";
import { editedOf, freeOwn, kPresets, listed } from "./state";
import { usualPrecision } from "./knobs";

interface Props {
  fields: Fields;
  machines: readonly MachineNumbers[];
  /** Writes fields of the address, the first picture included. */
  change: typeof setFields;
}

export function Choice({ fields, machines, change }: Props) {
  const presets = listed(fields.preset);
  const gpus = listed(fields.gpu);
  const owns = ownsOf(fields);
  const free = freeOwn(fields);
  const add = (name: string, list: string[], event: Event) => {
    const select = event.currentTarget as HTMLSelectElement;
    // What is added is what is told of.
    if (select.value && !list.includes(select.value))
      change({ [name]: [...list, select.value].join(","), show: `${name}:${select.value}` });
    select.value = "";
  };
  const without = (list: string[], name: string) => list.filter((each) => each !== name).join(",");
  const titled = (name: string) => machines.find((machine) => machine.name === name)?.title ?? name;
  return (
    <fieldset>
      <legend>Settings side by side</legend>
      <ul class="chosen">
        {presets.map((name) => (
          <Chosen
            key={name}
            name={name}
            title="a comparison"
            onRemove={() => change({ preset: without(presets, name) })}
          />
        ))}
        {gpus.map((name) => (
          <Chosen key={name} name={name} title={titled(name)} onRemove={() => change({ gpu: without(gpus, name) })} />
        ))}
        {owns.map(({ id, own }) => (
          <Chosen
            key={id}
            name={own.name || own.base}
            title={`${own.base}, changed`}
            chosen={editedOf(fields)?.id === id}
            onEdit={() => change({ edit: id })}
            onRemove={() => change({ [id]: undefined })}
          />
        ))}
      </ul>
      <div class="grid">
        <div class="field wide">
          <label for="add-machine">Add a machine</label>
          <select id="add-machine" onChange={(event) => add("gpu", gpus, event)}>
            <option value="">choose…</option>
            {machines.map((machine) => (
              <option key={machine.name} value={machine.name}>
                {machine.name}
              </option>
            ))}
          </select>
        </div>
        <div class="field wide">
          <label for="add-preset">Add a comparison</label>
          <select id="add-preset" onChange={(event) => add("preset", presets, event)}>
            <option value="">choose…</option>
            {kPresets.map((preset) => (
              <option key={preset.id} value={preset.id}>
                {preset.title}
              </option>
            ))}
          </select>
        </div>
      </div>
      <div class="buttons">
        <button
          type="button"
          disabled={!free}
          onClick={() => {
            const source = editedOf(fields)?.own;
            const copy: OwnSetting = source
              ? { ...source, name: `${source.name || source.base} ${owns.length + 1}` }
              : { name: "mine", base: "h100-sxm", precision: "", sparse: false, edits: {} };
            if (free) change({ [free]: ownText(copy), edit: free });
          }}
        >
          New setting of my own
        </button>
      </div>
    </fieldset>
  );
}

interface ChosenProps {
  name: string;
  title: string;
  chosen?: boolean;
  onEdit?: () => void;
  onRemove: () => void;
}

function Chosen({ name, title, chosen, onEdit, onRemove }: ChosenProps) {
  return (
    <li title={title}>
      {onEdit ? (
        <button type="button" class="quiet" aria-pressed={chosen} onClick={onEdit}>
          {name}
        </button>
      ) : (
        <span>{name}</span>
      )}
      <button type="button" class="quiet" aria-label={`Remove ${name}`} onClick={onRemove}>
        ×
      </button>
    </li>
  );
}

interface EditedProps {
  own: OwnSetting;
  machines: readonly MachineNumbers[];
  machine: MachineNumbers | undefined;
  onChange: (own: OwnSetting) => void;
}

/** Name, machine and precision of the setting that is edited. */
export function Edited({ own, machines, machine, onChange }: EditedProps) {
  const precisions = machine ? Object.keys(machine.peak_flop_per_s) : [];
  return (
    <fieldset>
      <legend>Edit</legend>
      <div class="grid">
        <div class="field wide">
          <label for="own-name">Name</label>
          <input
            id="own-name"
            type="text"
            maxLength={60}
            value={own.name}
            placeholder={own.base}
            onInput={(event) => onChange({ ...own, name: event.currentTarget.value })}
          />
        </div>
        <div class="field wide">
          <label for="own-base">Starts from</label>
          <select
            id="own-base"
            value={own.base}
            // The numbers that were changed are those of another machine.
            onChange={(event) => onChange({ ...own, base: event.currentTarget.value, precision: "", edits: {} })}
          >
            {!machine && <option value={own.base}>{own.base}</option>}
            {machines.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for="own-precision">Precision</label>
          <select
            id="own-precision"
            value={own.precision}
            onChange={(event) => onChange({ ...own, precision: event.currentTarget.value })}
          >
            <option value="">{machine ? `auto (${usualPrecision(machine)})` : "auto"}</option>
            {own.precision && !precisions.includes(own.precision) && <option>{own.precision}</option>}
            {precisions.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <div class="field switch">
          <label for="own-sparse">With experts</label>
          <input
            id="own-sparse"
            type="checkbox"
            checked={own.sparse}
            onChange={(event) => onChange({ ...own, sparse: event.currentTarget.checked })}
          />
        </div>
      </div>
    </fieldset>
  );
}
