// What gives the same elsewhere: lines of the command line, with the files that they name, and of Python.
import type { ComponentChildren } from "preact";

import { saveText } from "../charts/download";
import { commandLine, ownFiles, pythonLine, type Asked } from "../lib/lines";
import { Copy } from "./Copy";
import { Unfolded } from "./Unfolded";

interface Props {
  readonly asked: readonly Asked[];
  /** What else leads from the page to where a run is started. */
  readonly children?: ComponentChildren;
}

export function SameCommand({ asked, children }: Props) {
  const text = asked.map(commandLine).join("\n");
  const files = [...new Map(asked.flatMap(ownFiles).map((file) => [file.name, file])).values()];
  const python = () => ["import headway as hw", "", ...asked.map(pythonLine)].join("\n");
  return (
    <section class="panel" aria-labelledby="same">
      <header>
        <h2 id="same">The same on the command line</h2>
        <Copy text={text} what={asked.length > 1 ? "commands" : "command"} />
      </header>
      <pre class="text command">{text}</pre>
      {files.length > 0 && (
        <p class="buttons no-print">
          {files.map(({ name, text }) => (
            <button type="button" key={name} onClick={() => saveText(name, "text/plain", text)}>
              Save {name}
            </button>
          ))}
          <span class="soft">What is your own is read from a file there.</span>
        </p>
      )}
      <Unfolded summary="The same in Python">
        {() => (
          <>
            <pre class="text python">{python()}</pre>
            <Copy text={python()} what="Python" />
          </>
        )}
      </Unfolded>
      {children}
    </section>
  );
}
