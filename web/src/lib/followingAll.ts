// Several questions side by side, each followed on its own: moving one setting's slider asks for that
// setting alone, and the others' answers stay.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { ask, problemsOfError, type Answer, type Problem, type Request } from "./api";
import { follow, type Follower } from "./following";
import { returns } from "./server";

export interface Followed<Document> {
  readonly answer: Answer<Document> | null;
  readonly answered: string; // the request of the answer, as text
  readonly problems: readonly Problem[];
  readonly busy: boolean;
  /** Milliseconds that the last answer took. */
  readonly took: number | null;
}

const kNothing: Followed<never> = { answer: null, answered: "", problems: [], busy: true, took: null };

/** A smaller question whose answer is shown while that to the whole is awaited. */
export interface Sooner<Document> {
  /** null: there is none. */
  question(request: Request): Request | null;
  /** The smaller answer with what only the whole has, of the answer before. */
  shown(smaller: Document, before: Document): Document;
}

const kUnseen = 100; // milliseconds after which a page that is not painted, behind others, goes on

function painted(): Promise<unknown> {
  return new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, kUnseen);
  });
}

/** Asks `command` for each of the named requests whenever that one changes. */
export function useFollowing<Document>(
  command: string,
  requests: ReadonlyMap<string, Request>,
  sooner?: Sooner<Document>,
): ReadonlyMap<string, Followed<Document>> {
  const [state, setState] = useState<ReadonlyMap<string, Followed<Document>>>(new Map());
  const followers = useRef(new Map<string, { follower: Follower<string>; asked: string; back: number }>());
  const texts = [...requests].map(([id, request]) => [id, JSON.stringify(request)] as const);
  // What was asked when the server was lost is asked again when it is back.
  const back = returns.value;

  // Before the next picture is painted: a frame's time counts while a slider moves.
  useLayoutEffect(() => {
    const change = (id: string, patch: (before: Followed<Document>) => Followed<Document>) =>
      setState((all) => new Map(all).set(id, patch(all.get(id) ?? kNothing)));
    const begin = (id: string) => {
      let started = 0;
      let last: Document | null = null; // of which the whole is known
      return follow<string, Answer<Document>>(
        async (text, signal) => {
          started = performance.now();
          const request = JSON.parse(text) as Request;
          const smaller = last && sooner?.question(request);
          if (last && smaller) {
            const { document, exit } = await ask<Document>(command, smaller, signal);
            const answer = { document: sooner!.shown(document, last), exit };
            change(id, (before) => ({ ...before, answer, answered: text, problems: [], took: performance.now() - started }));
            await painted(); // the picture before the server's next work
          }
          const whole = await ask<Document>(command, request, signal);
          last = whole.document;
          return whole;
        },
        (text, outcome, isLast) => {
          const took = performance.now() - started;
          change(id, (before) => {
            if ("answer" in outcome)
              return { answer: outcome.answer, answered: text, problems: [], busy: !isLast, took };
            return { ...before, problems: problemsOfError(outcome.error), busy: !isLast, took };
          });
        },
      );
    };
    for (const [id, text] of texts) {
      let entry = followers.current.get(id);
      if (!entry) followers.current.set(id, (entry = { follower: begin(id), asked: "", back }));
      if (entry.asked === text && entry.back === back) continue;
      entry.asked = text;
      entry.back = back;
      change(id, (before) => ({ ...before, busy: true }));
      entry.follower.want(text);
    }
    for (const [id, { follower }] of [...followers.current]) {
      if (requests.has(id)) continue;
      follower.end();
      followers.current.delete(id);
      setState((all) => {
        const rest = new Map(all);
        rest.delete(id);
        return rest;
      });
    }
  }, [command, JSON.stringify(texts), back]);

  useEffect(
    () => () => {
      for (const { follower } of followers.current.values()) follower.end();
      followers.current.clear();
    },
    [],
  );
  return state;
}
