// The first minutes of a person: each a question, with the fields that had to be touched for its answer.
import type { PlanDocument, PredictDocument } from "../src/lib/documents";
import { seconds } from "../src/lib/format";
import { layoutWords } from "../src/lib/plan";
import { headway } from "./command";
import { at, beginTask, choose, expect, open, test } from "./page";

const kStepTime = '[data-number="Step time"]';
const kRun = "model=llama-3.1-70b&cluster=dgx-h100&gpus=64&seq=8192&global-batch=128";
const kWords = "--model llama-3.1-70b --cluster dgx-h100 --gpus 64 --seq 8192 --global-batch 128".split(" ");

/** The fields with which the page opens. */
const kFirst = { model: "llama-3.1-70b", cluster: "dgx-h100", gpus: "64", seq: "8192", "global-batch": "128" };

test("which layout for Llama 3.1 70B on 256 H100: one field is touched, none beyond model, machine and number", async ({
  page,
}) => {
  await page.goto(at(""));
  const answered = beginTask(page, kFirst);
  await choose(page, "Model", "llama-3.1-70b");
  await choose(page, "Cluster", "dgx-h100");
  await page.getByLabel("Accelerators", { exact: true }).fill("256");
  const words = kWords.map((word) => (word === "64" ? "256" : word));
  const best = headway<PlanDocument>("plan", ...words, "--top", "1").best[0]!;
  const layout = page.getByRole("region", { name: "The layout and why" });
  await expect(layout).toContainText(layoutWords(best.flags));
  await expect(page.locator(kStepTime)).toContainText(seconds(best.step_time_s));
  answered(["gpus"]);
  await layout.getByText("Why this one").click();
  await expect(layout).toContainText(/Without tensor parallelism the best would take \+/);
});

test("the opening view fits, with nothing touched", async ({ page }) => {
  await page.goto(at(""));
  const answered = beginTask(page, kFirst);
  await expect(page.getByRole("region", { name: "What the memory holds" })).toContainText("It fits.");
  await expect(page.getByRole("region", { name: "It does not fit" })).toHaveCount(0);
  answered([]);
});

test("what does not fit says so first, in place of the speed, and one click finds a layout that does", async ({ page }) => {
  await page.goto(at(`#/step?${kRun}&tp=1&dp=64`));
  expect(headway<PredictDocument>("predict", ...kWords, "--tp", "1", "--dp", "64").fits).toBe(false);
  const unfit = page.getByRole("region", { name: "It does not fit" });
  await expect(unfit).toContainText("llama-3.1-70b does not fit");
  await expect(page.locator(kStepTime)).not.toBeVisible();
  await unfit.getByRole("button", { name: "Find one that does" }).click();
  const best = headway<PlanDocument>("plan", ...kWords, "--top", "1").best[0]!;
  await expect(page.locator(kStepTime)).toContainText(seconds(best.step_time_s));
  await expect(unfit).toHaveCount(0);
});

test("where no layout fits, the page says so and offers how many accelerators would do", async ({ page }) => {
  await page.goto(at("#/step?model=llama-3.1-405b&cluster=dgx-a100-40gb&gpus=8&seq=8192&global-batch=8"));
  const words = "--model llama-3.1-405b --cluster dgx-a100-40gb --gpus 8 --seq 8192 --global-batch 8".split(" ");
  const needed = headway<PlanDocument>("plan", ...words).remedies[0]!.best!.layout.gpus;
  await expect(page.getByRole("heading", { name: /does not fit on 8 accelerators/ })).toBeVisible();
  await page.getByRole("button", { name: `Take ${needed} accelerators` }).click();
  await expect(page.getByRole("region", { name: "What the memory holds" })).toContainText("It fits.");
  await expect(page).toHaveURL(new RegExp(`gpus=${needed}`));
});

test("who changes one degree of the best layout keeps the others", async ({ page }) => {
  await open(page, `#/step?${kRun.replace("gpus=64", "gpus=256").replace("batch=128", "batch=512")}`);
  const words = "--model llama-3.1-70b --cluster dgx-h100 --gpus 256 --seq 8192 --global-batch 512".split(" ");
  const best = headway<PlanDocument>("plan", ...words, "--top", "1").best[0]!;
  await expect(page.locator(kStepTime)).toContainText(seconds(best.step_time_s));
  await page.getByLabel("Micro-batch").fill("2");
  await expect(page).toHaveURL(new RegExp(`tp=${best.layout.tp}.*micro-batch=2`));
  await expect(page).toHaveURL(new RegExp(`pp=${best.layout.pp}`));
});

test("a batch that does not divide is met by the nearest that does, by a click", async ({ page }) => {
  await page.goto(at(`#/step?${kRun.replace("batch=128", "batch=130")}&tp=8&pp=2`));
  await expect(page.getByLabel("Global batch")).toHaveAttribute("aria-invalid", "true");
  await page.getByRole("button", { name: "Take 132" }).click();
  const words = [...kWords.slice(0, -1), "132", "--tp", "8", "--pp", "2"];
  const step = headway<PredictDocument>("predict", ...words);
  await expect(page.getByRole("region", { name: "Where the time goes" })).toContainText(seconds(step.step_time_s));
});

test("so are accelerators over which no split is legal", async ({ page }) => {
  await page.goto(at(`#/step?${kRun.replace("gpus=64", "gpus=250").replace("batch=128", "batch=512")}`));
  await page.getByRole("button", { name: "Take 252" }).click();
  await expect(page.locator(kStepTime)).toBeVisible();
});

test("a layout found in Plan goes along to Step, Scale and Communication, and none opens empty", async ({ page }) => {
  await page.goto(at("#/plan?model=llama-2-7b&cluster=dgx-a100-80gb&gpus=16&seq=4096&global-batch=64&fix-tp=4"));
  await expect(page.locator('[data-table="best"]')).toBeVisible();
  const tab = (name: string) => page.getByRole("navigation").getByRole("link", { name });
  await tab("Step").click();
  await expect(page).toHaveURL(/model=llama-2-7b.*tp=4/);
  await expect(page.locator(kStepTime)).toBeVisible();
  for (const view of ["Scale", "Communication"]) {
    await tab(view).click();
    await expect(page).toHaveURL(/model=llama-2-7b.*tp=4/);
    await expect(page.locator("svg.chart-drawing").first()).toBeVisible();
  }
  await tab("Serve").click();
  await expect(page).toHaveURL(/model=llama-2-7b/);
  await expect(page.locator('[data-number]').first()).toBeVisible();
});

test("a run that is changed in one view goes along to the others by their tabs", async ({ page }) => {
  await page.goto(at("#/step"));
  await choose(page, "Model", "llama-2-7b");
  await page.getByLabel("Accelerators", { exact: true }).fill("128");
  const tab = (name: string) => page.getByRole("navigation").getByRole("link", { name });
  for (const view of ["Plan", "Scale", "Cost", "Communication"]) {
    await expect(tab(view)).toHaveAttribute("href", /model=llama-2-7b.*gpus=128|gpus=128.*model=llama-2-7b/);
  }
  await expect(tab("Serve")).toHaveAttribute("href", /model=llama-2-7b/);
  await tab("Plan").click();
  await expect(page.getByLabel("Model", { exact: true })).toHaveValue("llama-2-7b");
  // A model that is chosen there goes back.
  await choose(page, "Model", "llama-3.1-8b");
  await tab("Step").click();
  await expect(page.getByLabel("Model", { exact: true })).toHaveValue("llama-3.1-8b");
});
