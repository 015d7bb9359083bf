import { describe, expect, it } from "vitest";

import { follow, type Outcome } from "./following";

// A server whose answers come when the test says so.
function slow() {
  const asked: string[] = [];
  const open: ((answer: string | Error) => void)[] = [];
  const shown: [string, Outcome<string>, boolean][] = [];
  const follower = follow<string, string>(
    (question) => {
      asked.push(question);
      return new Promise((resolve, reject) =>
        open.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer))),
      );
    },
    (...what) => shown.push(what),
  );
  const answer = async (what: string | Error) => {
    open.shift()!(what);
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { follower, asked, shown, answer };
}

describe("follow", () => {
  it("asks one at a time and skips what was overtaken", async () => {
    const { follower, asked, shown, answer } = slow();
    for (const q of ["a", "b", "c", "d"]) follower.want(q);
    expect(asked).toEqual(["a"]);
    await answer("A");
    expect(asked).toEqual(["a", "d"]);
    await answer("D");
    expect(shown).toEqual([
      ["a", { answer: "A" }, false],
      ["d", { answer: "D" }, true],
    ]);
  });
  it("goes on after a refusal", async () => {
    const { follower, asked, shown, answer } = slow();
    follower.want("a");
    follower.want("b");
    await answer(new Error("no"));
    await answer("B");
    expect(asked).toEqual(["a", "b"]);
    expect(shown[0]![1]).toEqual({ error: new Error("no") });
    expect(shown[1]![1]).toEqual({ answer: "B" });
  });
  it("shows nothing after its end", async () => {
    const { follower, asked, shown, answer } = slow();
    follower.want("a");
    follower.want("b");
    follower.end();
    await answer("A");
    expect(shown).toEqual([]);
    expect(asked).toEqual(["a"]);
  });
});
