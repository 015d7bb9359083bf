import { seconds } from "../src/lib/format";
import type { PredictDocument } from "../src/lib/documents";
import { headway } from "./command";
import { at, expect, expectAccessible, expectNoSidewaysScroll, test } from "./page";

const kRun = "model=llama-3.1-70b&cluster=dgx-h100&gpus=64&seq=8192&global-batch=128";
const kWords = "--model llama-3.1-70b --cluster dgx-h100 --gpus 64 --seq 8192 --global-batch 128".split(" ");
const kStepTime = '[data-number="Step time"]';

const said = (...more: string[]) => headway<PredictDocument>("predict", ...kWords, ...more);

test("shows a step at once, and parts that sum to its time", async ({ page }) => {
  await page.goto(at("#/step"));
  await expect(page.locator(kStepTime)).toContainText(seconds(said().step_time_s));
  const bar = page.getByRole("region", { name: "Where the time goes" });
  await expect(bar.locator("tfoot td").first()).toHaveText(seconds(said().step_time_s));
});

test("the page of a newer headway is not hidden by the browser's cache", async ({ request }) => {
  const script = await request.get(at("assets/index.js"));
  expect(script.headers()["cache-control"]).toBe("no-cache");
  const again = await request.get(at("assets/index.js"), { headers: { "If-None-Match": script.headers().etag ?? "" } });
  expect(again.status()).toBe(304);
});

test("a changed degree gives the number of the command line", async ({ page }) => {
  await page.goto(at(`#/step?${kRun}`));
  await expect(page.locator(kStepTime)).toContainText(seconds(said().step_time_s));
  await page.getByLabel("Tensor", { exact: true }).fill("8");
  await page.getByLabel("Pipeline", { exact: true }).fill("4");
  const step = said("--tp", "8", "--pp", "4");
  await expect(page.locator(kStepTime)).toContainText(seconds(step.step_time_s));
  await expect(page.getByRole("region", { name: "Where the time goes" })).toContainText(seconds(step.parts_s.bubble));
  await expect(page).toHaveURL(/tp=8&pp=4$/);
  await page.goBack();
  await expect(page.locator(kStepTime)).toContainText(seconds(said("--tp", "8").step_time_s));
});

test("a field that changes faster than answers come is followed, by one question at a time", async ({ page }) => {
  await page.goto(at(`#/step?${kRun}`));
  const time = page.locator(kStepTime);
  await expect(time).toContainText(seconds(said().step_time_s));
  let open = 0;
  let most = 0;
  let ended = 0;
  await page.route("**/api/predict", async (route) => {
    most = Math.max(most, ++open);
    await new Promise((resolve) => setTimeout(resolve, 250));
    --open;
    await route.continue().catch(() => {});
  });
  page.on("requestfailed", () => ++ended);
  const seen = new Set<string>();
  for (let batch = 256; batch <= 256 + 64 * 20; batch += 64) {
    await page.getByLabel("Global batch").fill(String(batch));
    await page.waitForTimeout(60);
    seen.add(await time.innerText());
  }
  expect([most, ended]).toEqual([1, 0]);
  expect(seen.size).toBeGreaterThan(2);
  const last = headway<PredictDocument>("predict", ...kWords.slice(0, -1), String(256 + 64 * 20));
  await expect(time).toContainText(seconds(last.step_time_s));
});

test("what is wrong stands beside its field, and the last answer stays", async ({ page }) => {
  await page.goto(at(`#/step?${kRun}&tp=8`));
  const right = seconds(said("--tp", "8").step_time_s);
  await expect(page.locator(kStepTime)).toContainText(right);
  const field = page.getByLabel("Pipeline", { exact: true });
  await field.fill("no");
  await expect(field).toHaveAttribute("aria-invalid", "true");
  await expect(field).toHaveAccessibleDescription(/\w/);
  await expect(page.getByRole("alert")).toContainText("pp");
  await expect(page.locator(kStepTime)).toContainText(right);
  await expectAccessible(page, ".problems");
  await expectAccessible(page, ".wrong");
  await field.fill("2");
  await expect(page.getByRole("alert")).toBeEmpty();
  await expect(field).not.toHaveAttribute("aria-invalid", "true");
});

test("an address restores what it was copied from", async ({ page, context }) => {
  await page.goto(at(`#/step?${kRun}`));
  await page.getByLabel("Recompute", { exact: true }).selectOption("full");
  await page.getByLabel("No sequence parallelism").check();
  await page.getByLabel("Tensor", { exact: true }).fill("4");
  const time = seconds(said("--recompute", "full", "--no-sp", "--tp", "4").step_time_s);
  await expect(page.locator(kStepTime)).toContainText(time);
  const second = await context.newPage();
  await second.goto(page.url());
  await expect(second.locator(kStepTime)).toContainText(time);
  await expect(second.getByLabel("No sequence parallelism")).toBeChecked();
});

test("the timeline's slots take what the forecast says", async ({ page }) => {
  for (const more of [
    "tp=8&pp=4",
    "tp=8&pp=4&vpp=5",
    "tp=8&pp=8&schedule=gpipe",
    "tp=8&pp=4&schedule=zero-bubble",
    "tp=8&pp=4&schedule=zero-bubble-v",
    "tp=8&pp=4&schedule=dual-pipe",
    "tp=8&pp=4&schedule=chimera",
  ]) {
    await page.goto(at(`#/step?${kRun}&${more}`));
    const words = more.split("&").flatMap((pair) => `--${pair}`.split("="));
    const step = said(...words);
    const pace = step.pipeline.stages.find((stage) => stage.sets_pace)!;
    const one = pace.forward_s + pace.backward_s + pace.transfers_s;
    const closed = one * step.layout.micro_batches + step.parts_s.bubble;
    await expect(page.locator(kStepTime)).toContainText(seconds(step.step_time_s));
    const drawn = Number(await page.locator("[data-timeline]").getAttribute("data-timeline"));
    expect(Math.abs(drawn / closed - 1), more).toBeLessThan(0.01);
  }
});

test("the configuration that starts the run is the command line's", async ({ page }) => {
  await page.goto(at(`#/step?${kRun}&tp=8&pp=2`));
  await page.getByLabel("Configuration that starts it").selectOption("megatron");
  const launch = headway<{ files: { text: string }[] }>("predict", ...kWords, "--tp", "8", "--pp", "2", "--emit", "megatron");
  await expect(page.locator("pre.text").last()).toHaveText(launch.files[0]!.text);
});

test("calls can be sorted by what is exposed", async ({ page }) => {
  await page.goto(at(`#/step?${kRun}&tp=8&pp=4`));
  const calls = page.getByRole("region", { name: "Calls of one rank", exact: true });
  await calls.getByRole("button", { name: "Size" }).click();
  await calls.getByRole("button", { name: "Size" }).click();
  const largest = Math.max(...said("--tp", "8", "--pp", "4").calls.map((call) => call.bytes));
  await expect(calls.locator("tbody tr").first()).toContainText(`${(largest / 2 ** 30).toFixed(2)} GiB`);
});

test("a changed field is answered within 100 ms", async ({ page }) => {
  await page.goto(at(`#/step?${kRun}&tp=8`));
  await expect(page.locator(kStepTime)).not.toBeEmpty();
  for (const seq of [4096, 2048, 1024, 6144, 3072]) {
    const answered = page.waitForResponse("**/api/predict");
    await page.getByLabel("Sequence length").fill(String(seq));
    await (await answered).finished();
  }
  const durations = await page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .filter((entry) => entry.name.endsWith("/api/predict"))
      .map((entry) => entry.duration),
  );
  // The quickest: other tests compute at the same time.
  expect(Math.min(...durations)).toBeLessThan(100);
});

test("can be used by all: axe finds nothing, nor does 400 pixels", async ({ page }) => {
  await page.goto(at(`#/step?${kRun}&tp=8&pp=4`));
  await expect(page.locator(kStepTime)).not.toBeEmpty();
  await expectAccessible(page);
  await page.setViewportSize({ width: 400, height: 800 });
  await expectNoSidewaysScroll(page);
});
