// The lines of the command line that give what the page shows.
import type { ComponentChildren } from "preact";

import { Copy } from "./Copy";

interface Props {
  readonly lines: readonly string[];
  /** What else leads from the page to where a run is started. */
  readonly children?: ComponentChildren;
}

export function SameCommand({ lines, children }: Props) {
  const text = lines.join("\n");
  return (
    <section class="panel" aria-labelledby="same">
      <header>
        <h2 id="same">The same on the command line</h2>
        <Copy text={text} what={lines.length > 1 ? "commands" : "command"} />
      </header>
      <pre class="text command">{text}</pre>
      {children}
    </section>
  );
}
