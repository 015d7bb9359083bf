// A list that is searched by typing: names in groups, chosen by arrows and Enter, a click or a tap.
import { useEffect, useRef, useState } from "preact/hooks";

import { matching, type Group } from "../lib/makers";

interface Props {
  /** Attributes of the input: id, name, what describes it. */
  readonly input: Readonly<Record<string, unknown>> & { readonly id: string };
  readonly value: string;
  /** What stands in the field for the value, where it is not the value itself. */
  readonly shown?: string;
  readonly groups: readonly Group[];
  readonly onChange: (value: string) => void;
}

export function Combobox({ input, value, shown, groups, onChange }: Props) {
  const [typed, setTyped] = useState<string | null>(null); // null: nothing is being typed
  const [at, setAt] = useState(-1);
  const list = useRef<HTMLDivElement>(null);
  const { id } = input;
  const open = typed !== null;
  // An untouched field offers all.
  const found = !open ? [] : typed === (shown ?? value) ? groups : matching(groups, typed);
  const names = found.flatMap((group) => group.names);
  const close = () => {
    setTyped(null);
    setAt(-1);
  };
  const choose = (name: string | undefined) => {
    close();
    if (name !== undefined && name !== value) onChange(name);
  };
  const type = (text: string) => {
    setTyped(text);
    setAt(-1);
    if (groups.some((group) => group.names.includes(text)) && text !== value) onChange(text);
  };
  // What was typed and is no name is taken all the same: its problem says what is near.
  const leave = () => {
    const text = typed?.trim();
    if (text && text !== (shown ?? value)) choose(text);
    else close();
  };
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [at, open]);
  const move = (by: number) => {
    if (!open) setTyped(shown ?? value);
    else if (names.length > 0) setAt((at + by + names.length + (at < 0 && by < 0 ? 1 : 0)) % names.length);
    else if (groups.length === 0) setAt(0); // the names have not come yet: of them the first
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Enter: () => open && (names[at] !== undefined ? choose(names[at]) : names.length > 0 && typed !== (shown ?? value) ? choose(names[0]) : leave()),
    Escape: close,
  };
  return (
    <div class="combobox">
      <input
        {...input}
        type="text"
        role="combobox"
        aria-expanded={open && names.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={names[at] !== undefined ? `${id}-${at}` : undefined}
        autocomplete="off"
        spellcheck={false}
        value={typed ?? shown ?? value}
        onFocus={(event) => event.currentTarget.select()}
        onClick={() => !open && setTyped(shown ?? value)}
        onInput={(event) => type(event.currentTarget.value)}
        onBlur={leave}
        onKeyDown={(event) => {
          const act = keys[event.key];
          if (!act) return;
          if (event.key !== "Escape" || open) event.preventDefault();
          act();
        }}
      />
      <div class="combobox-list" id={`${id}-list`} role="listbox" aria-label="Names" ref={list} hidden={names.length === 0}>
        {found.map(({ title, names: members }, group) => (
          <div role="group" key={title} aria-labelledby={`${id}-g${group}`}>
            <div class="combobox-title" id={`${id}-g${group}`} role="presentation">
              {title}
            </div>
            {members.map((name) => {
              const index = names.indexOf(name);
              return (
                <div
                  key={name}
                  id={`${id}-${index}`}
                  role="option"
                  aria-selected={index === at}
                  // Before the field loses the focus.
                  onPointerDown={(event) => {
                    event.preventDefault();
                    choose(name);
                  }}
                >
                  {name}
                </div>
              );
            })}
          </div>
        ))}
      </div>
      {open && names.length === 0 && typed !== "" && <p class="soft none">Nothing built in is called so.</p>}
    </div>
  );
}
