// Details that are made when they are opened: what nobody sees takes no time.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface Props {
  readonly summary: ComponentChildren;
  readonly children: () => ComponentChildren;
}

export function Unfolded({ summary, children }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {open && children()}
    </details>
  );
}
