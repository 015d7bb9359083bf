import { expect, test } from "vitest";

import { answerOf, type LaidOut } from "./laidOut";

const problem = { where: "gpus", message: "is not a whole number" };
const other = { where: "tp", message: "does not divide" };
const search = { answer: null, answered: null, problems: [], busy: false, progress: null };
const laid: LaidOut = { fields: { model: "gpt2" }, searched: true, plan: null, current: true, problems: [], search };
const asking = { answer: { document: "step", exit: 0 }, problems: [other], busy: false };

test("a layout that was found or given has its answer and its problems", () => {
  const told = { document: "step", problems: [other], busy: false };
  expect(answerOf(laid, asking)).toEqual(told);
  expect(answerOf({ ...laid, searched: false, current: false }, asking)).toEqual(told);
  expect(answerOf(laid, { ...asking, busy: true }).busy).toBe(true);
});

test("while a layout is searched the answer before stays, and what is wrong with it is no news", () => {
  expect(answerOf({ ...laid, current: false }, asking)).toEqual({ document: "step", problems: [], busy: true });
});

test("a search that is refused is over, and its problems are told", () => {
  const refused = { ...laid, current: false, problems: [problem] };
  expect(answerOf(refused, asking)).toEqual({ document: "step", problems: [problem], busy: false });
  // What was refused is asked anew, changed.
  expect(answerOf({ ...refused, search: { ...search, busy: true } }, asking).busy).toBe(true);
});

test("where no layout fits there is no answer", () => {
  expect(answerOf({ ...laid, fields: null }, asking).document).toBeUndefined();
});
