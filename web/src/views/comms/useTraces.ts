// Questions that go with files.
import { useEffect, useState } from "preact/hooks";

import { askWithFiles, problemsOfError, type Answer, type Problem, type Request } from "../../lib/api";
import { returns } from "../../lib/server";

export interface Traced<Document> {
  readonly answer: Answer<Document> | null;
  readonly problems: readonly Problem[];
  readonly busy: boolean;
}

const kNothing = { answer: null, problems: [], busy: false };

/** Asks with the files whenever they or the request change, and when a server that was lost is back. */
export function useTraces<Document>(files: readonly File[], request: Request | null): Traced<Document> {
  const [state, setState] = useState<Traced<Document>>(kNothing);
  const text = JSON.stringify(request);
  useEffect(() => {
    if (files.length === 0 || request === null) {
      setState(kNothing);
      return;
    }
    const ending = new AbortController();
    setState((before) => ({ ...before, busy: true }));
    // Files are sent anew with each question: a number that is being typed waits until it stands.
    const timer = setTimeout(() => {
      askWithFiles<Document>("comms", JSON.parse(text) as Request, files, ending.signal).then(
        (answer) => setState({ answer, problems: [], busy: false }),
        (error: unknown) => {
          if (ending.signal.aborted) return;
          setState((before) => ({ ...before, problems: problemsOfError(error), busy: false }));
        },
      );
    }, 250);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [files, text, returns.value]);
  return state;
}
