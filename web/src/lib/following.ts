// Questions that follow a moved slider: one at a time, and what is asked meanwhile waits, the last of
// it alone. So the picture keeps moving as fast as answers come, and none is out of date for long.

export type Outcome<Answer> = { readonly answer: Answer } | { readonly error: unknown };

export interface Follower<Question> {
  /** Asks now, or as soon as the question under way is answered. */
  want(question: Question): void;
  /** Ends what is under way; nothing is shown any more. */
  end(): void;
}

export function follow<Question, Answer>(
  ask: (question: Question, signal: AbortSignal) => Promise<Answer>,
  show: (question: Question, outcome: Outcome<Answer>, isLast: boolean) => void,
): Follower<Question> {
  const ending = new AbortController();
  let busy = false;
  let next: { question: Question } | null = null;

  async function run(question: Question): Promise<void> {
    busy = true;
    let outcome: Outcome<Answer>;
    try {
      outcome = { answer: await ask(question, ending.signal) };
    } catch (error) {
      outcome = { error };
    }
    busy = false;
    if (ending.signal.aborted) return;
    const waiting = next;
    next = null;
    show(question, outcome, waiting === null);
    if (waiting) void run(waiting.question);
  }

  return {
    want(question) {
      if (busy) next = { question };
      else void run(question);
    },
    end() {
      next = null;
      ending.abort();
    },
  };
}
