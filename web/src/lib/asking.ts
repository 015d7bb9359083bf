// A question that follows what the reader changes: at most one is under way, and the last good answer
// stays while another is awaited or refused. A short one is answered before the next is asked, so that
// a field that keeps changing is followed by the picture; a long one is ended and asked anew.
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { ask, askLong, problemsOfError, type Answer, type Problem, type Progress, type Request } from "./api";
import { returns } from "./server";
import { follow, type Follower, type Outcome } from "./following";
import { longWork } from "./opened";

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
  /** Long work: streamed, with progress. */
  readonly long?: boolean;
  /** Milliseconds of rest before a changed request for long work is sent. */
  readonly rest?: number;
}

/** What `request` was answered; undefined where the last good answer is of another. */
export function answerTo<Document>(
  request: Request | null,
  { answer, answered }: Pick<Asking<Document>, "answer" | "answered">,
): Document | undefined {
  if (request === null || JSON.stringify(answered) !== JSON.stringify(request)) return undefined;
  return answer?.document;
}

const kNothing: Asking<never> = { answer: null, answered: null, problems: [], busy: false, progress: null };

type Change<Document> = (patch: (before: Asking<Document>) => Asking<Document>) => void;

/** Asks what is wanted, as JSON, and tells by `change` what comes of it; null wants nothing. */
export interface Asker {
  want(text: string | null): void;
  /** Ends what is under way; nothing is told any more. */
  end(): void;
}

function rested<Document>(before: Asking<Document>): Asking<Document> {
  return { ...before, problems: [], busy: false, progress: null };
}

/** Asks short questions: the last of those that come while one is under way waits for its answer. */
export function shortAsker<Document>(command: string, change: Change<Document>): Asker {
  let follower: Follower<string> | null = null;
  const show = (text: string, outcome: Outcome<Answer<Document>>, isLast: boolean) =>
    change((before) => {
      if ("answer" in outcome) {
        const answered = JSON.parse(text) as Request;
        return { answer: outcome.answer, answered, problems: [], busy: !isLast, progress: null };
      }
      // What was wrong with a question that is not asked any more is no news.
      return isLast ? { ...before, problems: problemsOfError(outcome.error), busy: false } : before;
    });
  const end = () => {
    follower?.end();
    follower = null;
  };
  return {
    want(text) {
      if (text === null) {
        end();
        change(rested);
        return;
      }
      follower ??= follow((question, signal) => ask<Document>(command, JSON.parse(question) as Request, signal), show);
      change((before) => ({ ...before, busy: true, progress: null }));
      follower.want(text);
    },
    end,
  };
}

// Long work is not done again for who goes back to it.
const kRemembered = 8;
const remembered = new Map<string, Answer<unknown>>();

function remember(key: string, answer: Answer<unknown>): void {
  remembered.set(key, answer);
  const oldest = remembered.keys().next().value;
  if (remembered.size > kRemembered && oldest !== undefined) remembered.delete(oldest);
}

/** Asks for long work: a change ends what is under way, and is asked after `rest` milliseconds without
 * another; the first question at once. */
export function longAsker<Document>(command: string, rest: number, change: Change<Document>): Asker {
  let ending = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let first = true;
  let notYet = () => {}; // takes back what waits for the reader
  const end = () => {
    clearTimeout(timer);
    notYet();
    ending.abort();
  };
  const start = async (text: string, signal: AbortSignal) => {
    change((before) => ({ ...before, busy: true, progress: null }));
    const asked = JSON.parse(text) as Request;
    const onProgress = (progress: Progress) => {
      if (!signal.aborted) change((before) => ({ ...before, progress }));
    };
    try {
      // What is known before the whole is shown while the rest is awaited.
      const onFirst = (document: Document) => {
        if (signal.aborted) return;
        change((before) => ({ ...before, answer: { document, exit: 0 }, answered: asked, problems: [] }));
      };
      const answer = await askLong<Document>(command, asked, onProgress, signal, onFirst);
      if (signal.aborted) return;
      remember(`${command} ${text}`, answer);
      change(() => ({ answer, answered: asked, problems: [], busy: false, progress: null }));
    } catch (error) {
      if (signal.aborted) return;
      change((before) => ({ ...before, problems: problemsOfError(error), busy: false, progress: null }));
    }
  };
  return {
    want(text) {
      end();
      if (text === null) {
        change(rested);
        return;
      }
      const known = remembered.get(`${command} ${text}`) as Answer<Document> | undefined;
      if (known) {
        const answered = JSON.parse(text) as Request;
        change(() => ({ answer: known, answered, problems: [], busy: false, progress: null }));
        return;
      }
      ending = new AbortController();
      const { signal } = ending;
      timer = setTimeout(() => (notYet = longWork.whenOpen(() => void start(text, signal))), first ? 0 : rest);
      first = false;
    },
    end,
  };
}

/** Asks `command` whenever `request` changes; null asks nothing and keeps what is there. */
export function useAsking<Document>(command: string, request: Request | null, how: HowToAsk = {}): Asking<Document> {
  const { long = false, rest = 30 } = how;
  const [state, setState] = useState<Asking<Document>>(kNothing);
  const asker = useRef<Asker | null>(null);
  const text = request === null ? null : JSON.stringify(request);

  // Before the next picture is painted: a frame's time counts while a field changes.
  useLayoutEffect(() => {
    const own = long ? longAsker<Document>(command, rest, setState) : shortAsker<Document>(command, setState);
    asker.current = own;
    return own.end;
  }, [command, long, rest]);
  // What was asked when the server was lost is asked again when it is back.
  useLayoutEffect(() => asker.current!.want(text), [command, long, rest, text, returns.value]);

  return state;
}
