import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { answerTo, longAsker, shortAsker, type Asking } from "./asking";

// A server whose answers come when the test says so; a question that was ended is answered no more.
interface Question {
  readonly asked: unknown;
  readonly ended: () => boolean;
  readonly answer: (document: unknown, status?: number) => Promise<void>;
}
let questions: Question[] = [];

function fetchLater(_: string, { body, signal }: { body: string; signal: AbortSignal | null }): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal?.addEventListener("abort", () => reject(new DOMException("ended", "AbortError")));
    questions.push({
      asked: JSON.parse(body),
      ended: () => signal?.aborted ?? false,
      answer: async (document, status = 200) => {
        resolve(new Response(JSON.stringify(document), { status }));
        await vi.advanceTimersByTimeAsync(0);
      },
    });
  });
}

beforeEach(() => {
  questions = [];
  vi.useFakeTimers();
  vi.stubGlobal("fetch", fetchLater);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

// What a view would show, and everything that it showed on the way.
function watched() {
  let state: Asking<{ n: number }> = { answer: null, answered: null, problems: [], busy: false, progress: null };
  const shown: (number | undefined)[] = [];
  const change = (patch: (before: typeof state) => typeof state) => {
    state = patch(state);
    if (shown[shown.length - 1] !== state.answer?.document.n) shown.push(state.answer?.document.n);
  };
  return { change, shown, state: () => state };
}
const text = (n: number) => JSON.stringify({ n });

describe("short questions", () => {
  it("show answers meanwhile where changes come faster than answers", async () => {
    const view = watched();
    const asker = shortAsker<{ n: number }>("predict", view.change);
    for (let n = 1; n <= 30; ++n) {
      asker.want(text(n)); // every 10 ms; an answer takes 100
      await vi.advanceTimersByTimeAsync(10);
      if (n % 10 === 0) {
        const last = questions[questions.length - 1]!;
        await last.answer(last.asked);
      }
    }
    expect(questions.map(({ asked }) => (asked as { n: number }).n)).toEqual([1, 10, 20, 30]);
    expect(view.shown).toEqual([1, 10, 20]);
    expect(view.state().busy).toBe(true);
    await questions[3]!.answer({ n: 30 });
    expect(view.state()).toMatchObject({ answered: { n: 30 }, problems: [], busy: false });
    expect(view.shown).toEqual([1, 10, 20, 30]);
  });

  it("tell what is wrong with the present request, and keep the last good answer", async () => {
    const view = watched();
    const asker = shortAsker<{ n: number }>("predict", view.change);
    const problem = { where: "n", message: "is too large" };
    asker.want(text(1));
    await questions[0]!.answer({ n: 1 });
    asker.want(text(2));
    asker.want(text(3));
    await questions[1]!.answer({ problems: [problem] }, 400);
    expect(view.state()).toMatchObject({ problems: [], busy: true }); // 2 is not asked any more
    await questions[2]!.answer({ problems: [problem] }, 400);
    expect(view.state()).toMatchObject({ problems: [problem], busy: false });
    expect(view.state().answer!.document.n).toBe(1);
  });

  it("are ended where nothing is wanted, and come again", async () => {
    const view = watched();
    const asker = shortAsker<{ n: number }>("predict", view.change);
    asker.want(text(1));
    asker.want(null);
    expect(questions[0]!.ended()).toBe(true);
    expect(view.state().busy).toBe(false);
    asker.want(text(2));
    await questions[1]!.answer({ n: 2 });
    expect(view.shown).toEqual([2]);
    asker.want(text(3));
    asker.end();
    await questions[2]!.answer({ n: 3 });
    expect(view.shown).toEqual([2]);
  });
});

describe("long work", () => {
  it("is ended by a change and asked anew after a rest; the first time at once", async () => {
    const view = watched();
    const asker = longAsker<{ n: number }>("plan", 250, view.change);
    asker.want(text(1));
    await vi.advanceTimersByTimeAsync(0);
    expect(questions).toHaveLength(1);
    asker.want(text(2));
    expect(questions[0]!.ended()).toBe(true);
    await vi.advanceTimersByTimeAsync(200);
    asker.want(text(3));
    await vi.advanceTimersByTimeAsync(200);
    expect(questions).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(100);
    expect(questions.map(({ asked }) => asked)).toEqual([{ n: 1 }, { n: 3 }]);
    await questions[1]!.answer({ result: { n: 3 }, exit: 0 });
    expect(view.state()).toMatchObject({ answered: { n: 3 }, busy: false });
  });

  it("is not done again for who goes back to it", async () => {
    const view = watched();
    const asker = longAsker<{ n: number }>("plan", 0, view.change);
    for (const n of [4, 5]) {
      asker.want(text(n));
      await vi.advanceTimersByTimeAsync(0);
      await questions[questions.length - 1]!.answer({ result: { n }, exit: 0 });
    }
    asker.want(text(4));
    await vi.advanceTimersByTimeAsync(0);
    expect(questions).toHaveLength(2);
    expect(view.shown).toEqual([4, 5, 4]);
  });
});

describe("an answer", () => {
  const asking = { answer: { document: { n: 1 }, exit: 0 }, answered: { tp: 2 } };
  it("is that of the request that it answers, and of no other", () => {
    expect(answerTo({ tp: 2 }, asking)).toEqual({ n: 1 });
    expect(answerTo({ tp: 4 }, asking)).toBeUndefined();
    expect(answerTo(null, asking)).toBeUndefined();
    expect(answerTo({ tp: 2 }, { answer: null, answered: null })).toBeUndefined();
  });
});
