import type { PlanDocument } from "../src/lib/documents";
import { bytes, seconds } from "../src/lib/format";
import { roomyWords } from "../src/lib/plan";
import { kFirstRun } from "../src/lib/run";
import { headway } from "./command";
import { choose, expect, expectForAll, open, test } from "./page";

// Small, so that it is searched in a moment.
const kRun = "model=llama-2-7b&cluster=dgx-a100-80gb&gpus=16&seq=4096&global-batch=64";
const kWords = "--model llama-2-7b --cluster dgx-a100-80gb --gpus 16 --seq 4096 --global-batch 64".split(" ");
const kBest = '[data-table="best"] tbody tr';

const planned = (...more: string[]) => headway<PlanDocument>("plan", ...kWords, ...more);

test("opens with an answer, searches again when it is asked to, and finds what the command line finds", async ({ page }) => {
  await open(page, "#/plan");
  const { model, cluster, gpus, seq, "global-batch": batch } = kFirstRun;
  const first = headway<PlanDocument>("plan", ..."--model --cluster --gpus --seq --global-batch".split(" ").flatMap((flag, i) => [flag, [model, cluster, gpus, seq, batch][i]!]));
  await expect(page.locator(kBest).first()).toContainText(seconds(first.best[0]!.step_time_s));
  await choose(page, "Model", "llama-2-7b");
  await choose(page, "Cluster", "dgx-a100-80gb");
  await page.getByLabel("Accelerators").fill("16");
  await page.getByLabel("Sequence length").fill("4096");
  await page.getByLabel("Global batch").fill("64");
  await page.getByRole("button", { name: "Search" }).click();
  const plan = planned();
  await expect(page.getByText(`Memory binds: with more of it than the`)).toContainText(`${roomyWords(plan)} (`);
  await expect(page.locator(kBest)).toHaveCount(plan.best.length);
  for (const [i, best] of plan.best.entries()) {
    const row = page.locator(kBest).nth(i);
    await expect(row).toContainText(seconds(best.step_time_s));
    await expect(row).toContainText(bytes(best.memory_that_must_fit_bytes));
  }
});

test("a degree that is kept changes the answer as --fix does", async ({ page }) => {
  await open(page, `#/plan?${kRun}&fix-tp=8`);
  const best = planned("--fix", "tp=8").best[0]!;
  expect(best.layout.tp).toBe(8);
  await expect(page.locator(kBest).first()).toContainText(seconds(best.step_time_s));
});

test("a layout opens in Step with the same time", async ({ page }) => {
  await open(page, `#/plan?${kRun}`);
  const best = planned().best[0]!;
  await page.locator(kBest).first().getByRole("link").click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Step");
  await expect(page.locator('[data-number="Step time"]')).toContainText(seconds(best.step_time_s));
  await page.goBack();
  await expect(page.locator(kBest).first()).toContainText(seconds(best.step_time_s));
});

test("every layout of the what-if tables opens in Step with the time that stands there", async ({ page }) => {
  await open(page, `#/plan?${kRun}`);
  const without = planned().without.find(({ best }) => best !== null)!;
  const row = page.locator('[data-table="without"] tbody tr', { hasText: without.feature }).first();
  await expect(row).toContainText(seconds(without.best!.step_time_s));
  await row.getByRole("link").click();
  await expect(page.locator('[data-number="Step time"]')).toContainText(seconds(without.best!.step_time_s));
});

test("the configuration of the best can be copied", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page, `#/plan?${kRun}`);
  await page.getByLabel("Configuration that starts it").selectOption("megatron");
  const launch = headway<{ files: { text: string }[] }>("plan", ...kWords, "--emit", "megatron");
  await expect(page.locator("pre.text").last()).toHaveText(launch.files[0]!.text);
  await page.getByRole("button", { name: "Copy train.sh" }).click();
  await expect(page.getByText("copied", { exact: true })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(launch.files[0]!.text);
});

test("a long search says how far it is and can be given up", async ({ page }) => {
  await open(page, "#/plan?model=deepseek-v3&cluster=dgx-h100&gpus=2048&seq=4096&global-batch=15360&exhaustive=true");
  const cancel = page.getByRole("button", { name: "Cancel" });
  await expect(cancel).toBeVisible();
  await cancel.click();
  await expect(page.getByRole("button", { name: "Search" })).toBeEnabled();
  await expect(page.locator(kBest)).toHaveCount(0);
});

test("where nothing fits, it says so and what would help", async ({ page }) => {
  const words = "--model llama-3.1-405b --cluster dgx-a100-40gb --gpus 8 --seq 8192 --global-batch 8".split(" ");
  await open(page, "#/plan?model=llama-3.1-405b&cluster=dgx-a100-40gb&gpus=8&seq=8192&global-batch=8");
  await expect(page.getByRole("heading", { name: "No layout fits" })).toBeVisible();
  const plan = headway<PlanDocument>("plan", ...words);
  expect(plan.best).toHaveLength(0);
  await expect(page.locator('[data-table="remedies"] tbody tr')).toHaveCount(plan.remedies.length);
});

test("what is wrong stands beside its field", async ({ page }) => {
  await open(page, `#/plan?${kRun.replace("gpus=16", "gpus=-4")}`);
  const field = page.getByLabel("Accelerators");
  await expect(field).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByRole("alert")).toContainText("gpus");
});

test("what is wrong with a degree that is kept stands beside it", async ({ page }) => {
  await open(page, `#/plan?${kRun}&fix-pp=x`);
  await expect(page.locator('[name="fix-pp"]')).toHaveAccessibleDescription(/'x' is no value of pp/);
});

test("can be used by all, wide and narrow, with every detail open", async ({ page }) => {
  await open(page, `#/plan?${kRun}`);
  await expect(page.locator(kBest).first()).toBeVisible();
  await expectForAll(page);
});

test("a batch that divides over few accelerators is met by those next to it that divide over more", async ({ page }) => {
  const at127 = "model=llama-2-7b&cluster=dgx-h100&gpus=64&seq=4096&global-batch=127";
  await open(page, `#/plan?${at127}`);
  const offer = page.locator('[data-offer="batch"]');
  await expect(offer).toContainText("127 sequences divide over no more than 1 data-parallel rank");
  await offer.getByRole("button", { name: "Take 128, for up to 64" }).click();
  await expect(page).toHaveURL(/global-batch=128/);
  const plan = headway<PlanDocument>("plan", ..."--model llama-2-7b --cluster dgx-h100 --gpus 64 --seq 4096 --global-batch 128".split(" "));
  await expect(page.locator("#best")).toContainText(seconds(plan.best[0]!.step_time_s));
  await expect(offer).toHaveCount(0);
  // The same where a layout is searched for another view.
  await page.goto(page.url().replace(/#.*/, `#/cost?tokens=100B&${at127}`));
  await expect(offer.getByRole("button", { name: "Take 128, for up to 64" })).toBeVisible();
});
