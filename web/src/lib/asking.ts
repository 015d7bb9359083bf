// A question that follows what the reader moves: at most one is under way, the last one wins, and the
// last good answer stays while another is awaited or refused.
import { useEffect, useRef, useState } from "preact/hooks";

import { ask, askLong, Refusal, type Answer, type Problem, type Progress, type Request } from "./api";

export interface Asking<Document> {
  /** The last good answer, and the request that it answers. */
  readonly answer: Answer<Document> | null;
  readonly answered: Request | null;
  /** What is wrong with the present request; empty where nothing is known to be. */
  readonly problems: readonly Problem[];
  readonly busy: boolean;
  /** How far long work is. */
  readonly progress: Progress | null;
}

export interface HowToAsk {
  /** Milliseconds of rest before a changed request is sent. */
  readonly rest?: number;
  /** Long work: streamed, with progress. */
  readonly long?: boolean;
}

const kNothing: Asking<never> = { answer: null, answered: null, problems: [], busy: false, progress: null };

// Long work is not done again for who goes back to it.
const kRemembered = 8;
const remembered = new Map<string, Answer<unknown>>();

function remember(key: string, answer: Answer<unknown>): void {
  remembered.set(key, answer);
  const oldest = remembered.keys().next().value;
  if (remembered.size > kRemembered && oldest !== undefined) remembered.delete(oldest);
}

/** Asks `command` whenever `request` changes; null asks nothing and keeps what is there. */
export function useAsking<Document>(command: string, request: Request | null, how: HowToAsk = {}): Asking<Document> {
  const [state, setState] = useState<Asking<Document>>(kNothing);
  const text = request === null ? null : JSON.stringify(request);
  const first = useRef(true);

  useEffect(() => {
    if (text === null) {
      setState((before) => ({ ...before, problems: [], busy: false, progress: null }));
      return;
    }
    const asked = JSON.parse(text) as Request;
    const key = `${command} ${text}`;
    const known = how.long ? (remembered.get(key) as Answer<Document> | undefined) : undefined;
    if (known) {
      setState({ answer: known, answered: asked, problems: [], busy: false, progress: null });
      return;
    }
    const ending = new AbortController();
    const alive = () => !ending.signal.aborted;
    const start = () => {
      setState((before) => ({ ...before, busy: true, progress: null }));
      const onProgress = (progress: Progress) => {
        if (alive()) setState((before) => ({ ...before, progress }));
      };
      const asking = how.long
        ? askLong<Document>(command, asked, onProgress, ending.signal)
        : ask<Document>(command, asked, ending.signal);
      asking.then(
        (answer) => {
          if (!alive()) return;
          if (how.long) remember(key, answer);
          setState({ answer, answered: asked, problems: [], busy: false, progress: null });
        },
        (error: unknown) => {
          if (!alive()) return;
          const problems =
            error instanceof Refusal ? error.problems : [{ where: "", message: String(error) }];
          setState((before) => ({ ...before, problems, busy: false, progress: null }));
        },
      );
    };
    const timer = setTimeout(start, first.current ? 0 : (how.rest ?? 30));
    first.current = false;
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [command, text, how.long, how.rest]);

  return state;
}
