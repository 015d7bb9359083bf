import { afterEach, expect, test, vi } from "vitest";

import { lost, returns, tellLost, tryAgain } from "./server";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a server that is back is not tried again, also where another try failed meanwhile", async () => {
  vi.useFakeTimers();
  const answers: ((answered: boolean) => void)[] = [];
  const fetched = vi.fn(() => new Promise((resolve, reject) => answers.push((well) => (well ? resolve({}) : reject(new Error("nobody"))))));
  vi.stubGlobal("fetch", fetched);
  tellLost();
  const tries = [tryAgain(), tryAgain()];
  answers[0]!(false);
  await tries[0];
  answers[1]!(true);
  await tries[1];
  expect(lost.value).toBe(false);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(fetched).toHaveBeenCalledTimes(2);
  expect(returns.value).toBe(1);
});
