// What holds of the static site alone: nobody is asked, the first answer comes soon, and sliders are followed.
import type { Locator, Page } from "@playwright/test";

import { at, expect, test, unfold } from "./page";

const kRun = "model=llama-2-7b&cluster=dgx-h100&gpus=64&seq=4096&global-batch=256&tp=2&pp=2";
const kStepTime = '[data-number="Step time"]';

const middle = (values: readonly number[]) => [...values].sort((x, y) => x - y)[Math.floor(values.length / 2)]!;

/** Milliseconds from each change of a field to the first change of what shows its answer, in words or as a line. */
async function followed(page: Page, field: Locator, shown: Locator, values: readonly string[]): Promise<number[]> {
  const [input, answer] = [await field.elementHandle(), await shown.elementHandle()];
  const out: number[] = [];
  for (const value of values) {
    out.push(
      await page.evaluate(
        ({ input, answer, value }) =>
          new Promise<number>((resolve) => {
            const begun = performance.now();
            new MutationObserver((_, observer) => {
              observer.disconnect();
              resolve(performance.now() - begun);
            }).observe(answer!, { subtree: true, childList: true, characterData: true, attributeFilter: ["d"] });
            (input as HTMLInputElement).value = value;
            input!.dispatchEvent(new Event("input", { bubbles: true }));
          }),
        { input, answer, value },
      ),
    );
    await page.waitForTimeout(300); // until what else follows has come
  }
  return out;
}

test("a cold start has its first answer within 2 s, and asks for the site's own files alone", async ({ browser }, info) => {
  const times: number[] = [];
  const asked = new Set<string>();
  for (let i = 0; i < 5; ++i) {
    const context = await browser.newContext(); // nothing is kept of the one before
    const page = await context.newPage();
    page.on("request", (request) => void asked.add(new URL(request.url()).pathname));
    const begun = Date.now();
    await page.goto(at(`#/step?${kRun}`));
    await expect(page.locator(kStepTime)).toContainText(/\d/);
    times.push(Date.now() - begun);
    await context.close();
  }
  info.annotations.push({ type: "speed", description: `first answers: ${times.join(", ")} ms` });
  console.log(`cold start: ${times.join(", ")} ms`);
  expect([...asked].filter((path) => path.includes("api"))).toEqual([]);
  expect(Math.min(...times)).toBeLessThan(2000); // the quickest: other tests compute at the same time
});

test("a slider of a run is followed within 50 ms", async ({ page }, info) => {
  await page.goto(at(`#/step?${kRun}`));
  await expect(page.locator(kStepTime)).toContainText(/\d/);
  await unfold(page);
  const batches = Array.from({ length: 8 }, (_, i) => String(512 + 256 * i));
  const times = await followed(page, page.getByLabel("Global batch"), page.locator(kStepTime), batches);
  const told = `predict: middle ${Math.round(middle(times))} ms, quickest ${Math.round(Math.min(...times))} ms`;
  info.annotations.push({ type: "speed", description: told });
  console.log(told);
  expect(Math.min(...times)).toBeLessThan(50);
});

test("a slider of limits is followed by its curve within 50 ms", async ({ page }, info) => {
  await page.goto(at("#/limits?own1=mine,base:h100-sxm"));
  const settings = page.getByRole("region", { name: "Limits of each setting" });
  await expect(settings.getByRole("row").nth(1)).toContainText(/\d/);
  await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
  const slider = page.getByRole("slider", { name: "fabric: bandwidth of a GPU" });
  const from = Number(await slider.inputValue());
  const values = Array.from({ length: 8 }, (_, i) => String(from + 1 + i));
  // The line moves; what the table says of limits between models follows it.
  const times = await followed(page, slider, page.locator(".chart-line").first(), values);
  const told = `limits: middle ${Math.round(middle(times))} ms, quickest ${Math.round(Math.min(...times))} ms`;
  info.annotations.push({ type: "speed", description: told });
  console.log(told);
  expect(Math.min(...times)).toBeLessThan(50);
});
