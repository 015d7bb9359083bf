// The run by each method: as many short questions, asked together whenever the run changes.
import { useEffect, useState } from "preact/hooks";

import { ask, problemsOfError, type Problem } from "../../lib/api";
import type { PredictDocument } from "../../lib/documents";
import { returns } from "../../lib/server";
import type { Fields } from "../../lib/url";
import { methodRequest, type MethodNumbers, type MethodRow } from "./methods";

export interface Methods {
  readonly rows: readonly MethodRow[];
  /** What is wrong with the run itself. */
  readonly problems: readonly Problem[];
  readonly busy: boolean;
}

const kNothing: Methods = { rows: [], problems: [], busy: false };
const kRest = 250; // milliseconds: a number that is being typed
const kAtOnce = 4;

/** `fields`: null asks nothing. */
export function useMethods(fields: Fields | null): Methods {
  const [state, setState] = useState<Methods>(kNothing);
  const text = JSON.stringify(fields);
  useEffect(() => {
    if (fields === null) {
      setState(kNothing);
      return;
    }
    const ending = new AbortController();
    setState((before) => ({ ...before, busy: true }));
    const timer = setTimeout(() => {
      void askAll(fields, ending.signal).then(
        (rows) => setState({ rows, problems: [], busy: false }),
        (error: unknown) => {
          if (!ending.signal.aborted) setState((before) => ({ ...before, problems: problemsOfError(error), busy: false }));
        },
      );
    }, kRest);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [text, returns.value]);
  return state;
}

async function askAll(fields: Fields, signal: AbortSignal): Promise<MethodRow[]> {
  const predict = (method: MethodNumbers | null) => ask<PredictDocument>("predict", methodRequest(fields, method), signal);
  // What is wrong with the run is wrong with all.
  const base = (await predict(null)).document;
  const { document } = await ask<{ method_numbers: readonly MethodNumbers[] }>("list", { what: "methods" }, signal);
  const rows: MethodRow[] = [{ method: null, title: "meeting in every step", step: base, refused: "" }];
  const waiting = [...document.method_numbers];
  const work = async () => {
    for (let method = waiting.shift(); method; method = waiting.shift()) {
      const { title } = method;
      try {
        rows.push({ method, title, step: (await predict(method)).document, refused: "" });
      } catch (error) {
        if (signal.aborted) throw error;
        const refused = problemsOfError(error).map(({ message }) => message).join("; ");
        rows.push({ method, title, step: null, refused });
      }
    }
  };
  await Promise.all(Array.from({ length: kAtOnce }, work));
  return rows;
}
