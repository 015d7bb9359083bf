// How long after an input the picture of its answer is painted, by phases: until the question leaves, until its
// answer is read, until that is painted.
import type { Locator, Page } from "@playwright/test";

import { at, expect, kServed, test } from "./page";

interface Phases {
  readonly asked: number;
  readonly answered: number;
  readonly painted: number;
}

const kMoves = 15;
const kQuick = 250; // milliseconds, of the quickest move: the machine has other work

/** Gives `field` one value after the other, and measures in the page, each by itself. */
async function inputToPaint(field: Locator, command: string, values: readonly string[]): Promise<Phases[]> {
  return field.evaluate(
    async (input: HTMLInputElement, { command, values }) => {
      const nextPaint = () =>
        new Promise<void>((done) =>
          requestAnimationFrame(() => {
            const channel = new MessageChannel(); // its task runs once the frame was painted
            channel.port1.onmessage = () => done();
            channel.port2.postMessage(null);
          }),
        );
      const rest = () => new Promise((done) => setTimeout(done, 250));
      const { fetch } = window;
      const measured: { asked: number; answered: number; painted: number }[] = [];
      for (const value of values) {
        let begin = Infinity;
        let asked = 0;
        let answered = 0;
        let shown = () => {};
        const all = new Promise<void>((done) => (shown = done));
        window.fetch = async (what, how) => {
          if (!String(what).endsWith(command) || asked > 0 || begin === Infinity) return fetch(what, how);
          asked = performance.now();
          const response = await fetch(what, how).catch((error: unknown) => {
            asked = 0; // given up for a later one
            throw error;
          });
          const read = response.json.bind(response);
          response.json = async () => {
            const document: unknown = await read();
            answered = performance.now();
            shown();
            return document;
          };
          return response;
        };
        await nextPaint();
        begin = performance.now();
        input.value = value;
        input.dispatchEvent(new Event("input", { bubbles: true }));
        await all;
        await nextPaint(); // what an answer changes is drawn in the frame after it
        const painted = performance.now();
        measured.push({ asked: asked - begin, answered: answered - begin, painted: painted - begin });
        await rest();
      }
      window.fetch = fetch;
      return measured;
    },
    { command, values },
  );
}

const median = (values: readonly number[]) => [...values].sort((x, y) => x - y)[Math.floor(values.length / 2)]!;

/** Tells the medians, which are the machine's and its other work's; what is held is that a move is followed at all,
 * and in a moment. */
function expectQuick(what: string, measured: readonly Phases[]): void {
  const of = (phase: keyof Phases) => Math.round(median(measured.map((each) => each[phase])));
  const description = `${what}: asked after ${of("asked")} ms, answered after ${of("answered")}, painted after ${of("painted")}`;
  test.info().annotations.push({ type: "input to paint, medians", description });
  console.log(`input to paint in ${description}`);
  expect(Math.min(...measured.map((each) => each.painted))).toBeLessThan(kQuick);
}

const kRun = "model=llama-3.1-70b&cluster=dgx-h100&gpus=64&seq=8192&global-batch=128&tp=8&pp=8";

async function opened(page: Page, path: string): Promise<void> {
  await page.goto(at(path));
  await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
}

test("input to paint in Step", kServed, async ({ page }) => {
  await opened(page, `#/step?${kRun}`);
  const batches = Array.from({ length: kMoves }, (_, i) => String(128 + 64 * (i + 1)));
  expectQuick("Step", await inputToPaint(page.getByLabel("Global batch"), "api/predict", batches));
});

test("input to paint in Limits", kServed, async ({ page }) => {
  await opened(page, "#/limits");
  const slider = page.getByRole("slider", { name: "fabric: bandwidth of a GPU" });
  const from = Number(await slider.inputValue());
  const places = Array.from({ length: kMoves }, (_, i) => String(from + 1 + (i % 8)));
  expectQuick("Limits", await inputToPaint(slider, "api/limits", places));
});

test("the curve of a moved slider is drawn before its limits between models are known", kServed, async ({ page }) => {
  await opened(page, "#/limits?own1=mine,base:h100-sxm");
  const cells = page.getByRole("region", { name: "Limits of each setting" }).getByRole("row").nth(1).getByRole("cell");
  const [linear, wall, last] = [cells.nth(3), cells.nth(4), cells.nth(9)];
  const [linearBefore, wallBefore, lastBefore] = [await linear.innerText(), await wall.innerText(), await last.innerText()];
  let letGo = () => {};
  const held = new Promise<void>((done) => (letGo = done));
  await page.route("**/api/limits", async (route) => {
    if (route.request().postData()?.includes('"smooth":true')) await held;
    await route.continue();
  });
  const slider = page.getByRole("slider", { name: "fabric: bandwidth of a GPU" });
  await slider.focus();
  for (let i = 0; i < 12; ++i) await slider.press("ArrowLeft");
  await expect(last).not.toHaveText(lastBefore);
  expect([await linear.innerText(), await wall.innerText()]).toEqual([linearBefore, wallBefore]);
  letGo();
  await expect(linear).not.toHaveText(linearBefore);
});
