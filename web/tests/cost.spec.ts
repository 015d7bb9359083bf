import type { PlanDocument } from "../src/lib/documents";
import { count, dollars, duration } from "../src/lib/format";
import { layoutFields } from "../src/lib/plan";
import { cheaper } from "../src/views/cost/cost";
import type { RunDocument } from "../src/views/scale/documents";
import { headway } from "./command";
import { at, beginTask, choose, expect, expectForAll, hold, kServed, test } from "./page";

const kWords = "--model llama-3.1-70b --gpus 2048 --seq 8192 --global-batch 2048".split(" ");

function whole(cluster: string): RunDocument {
  const best = headway<PlanDocument>("plan", ...kWords, "--cluster", cluster, "--top", "1").best[0]!;
  const layout = Object.entries(layoutFields(best.flags)).flatMap(([name, value]) => (value === "true" ? [`--${name}`] : [`--${name}`, value]));
  return headway<RunDocument>("scale", "run", ...kWords, "--cluster", cluster, "--tokens", "2T", ...layout);
}

test("H100 or B200 for 2 T tokens of 70B, which is cheaper: nothing is touched", async ({ page }) => {
  const [h100, b200] = [whole("dgx-h100"), whole("dgx-b200")];
  await page.goto(at("#/cost"));
  const answered = beginTask(page);
  const rows = page.locator('[data-table="cost"] tbody tr');
  for (const [i, run] of [h100, b200].entries()) {
    await expect(rows.nth(i)).toContainText(dollars(run.price_usd!), { timeout: 40_000 });
    await expect(rows.nth(i)).toContainText(duration(run.time_s.total));
    await expect(rows.nth(i)).toContainText(count(run.gpu_hours));
  }
  await expect(page.getByRole("heading", { level: 2 }).filter({ hasText: "tokens on" })).toContainText(cheaper(h100, b200)!);
  answered([]);
});

test("a third machine is added and taken away, and the address holds it", async ({ page }) => {
  await page.goto(at("#/cost?model=llama-2-7b&cluster=dgx-h100&gpus=64&seq=4096&global-batch=512&tokens=200B"));
  const rows = page.locator('[data-table="cost"] tbody tr');
  await expect(rows).toHaveCount(1);
  await choose(page, "Add a machine", "dgx-a100-80gb");
  await expect(rows.nth(1)).toContainText("$");
  await expect(page).toHaveURL(/beside=dgx-a100-80gb/);
  await page.getByRole("button", { name: "Remove dgx-a100-80gb" }).click();
  await expect(rows).toHaveCount(1);
});

test("no machine's numbers stand beside another's name, while its own are asked for", kServed, async ({ page }) => {
  const run = "model=llama-2-7b&gpus=64&seq=4096&global-batch=512&tokens=200B&beside=dgx-a100-80gb,dgx-b200";
  await page.goto(at(`#/cost?cluster=dgx-h100&${run}`));
  const rows = page.locator('[data-table="cost"] tbody tr');
  for (const i of [0, 1, 2]) await expect(rows.nth(i)).toContainText("$");
  const [h100, , b200] = await rows.locator("td:nth-child(2)").allTextContents();
  const release = await hold(page, "**/api/scale");
  await page.getByRole("button", { name: "Remove dgx-a100-80gb" }).click();
  await expect(rows).toHaveCount(2);
  await expect(rows.nth(1)).toHaveText("dgx-b200being asked …");
  await release();
  await expect(rows.nth(1)).toContainText(b200!);

  const releasePlan = await hold(page, "**/api/plan");
  await choose(page, "Cluster", "dgx-h200");
  await expect(rows.nth(0)).toContainText("dgx-h200");
  await expect(rows.nth(0)).toContainText("being asked …");
  await expect(rows.nth(0)).not.toContainText(h100!);
  await expect(page.getByRole("region", { name: /^Where the days go on dgx-h/ })).toHaveCount(0);
  await releasePlan();
  await expect(rows.nth(0)).toContainText("$");
});

test("a machine of one's own goes by its name", async ({ page }) => {
  const own = encodeURIComponent(JSON.stringify({ base: "dgx-h100", name: "mine" }));
  await page.goto(at(`#/cost?model=llama-2-7b&cluster=${own}&gpus=64&seq=4096&global-batch=512&tokens=200B`));
  await expect(page.locator('[data-table="cost"] tbody tr').first()).toContainText("own: mine$");
});

test("can be used by all, wide and narrow, with every detail open", async ({ page }) => {
  await page.goto(at("#/cost?model=llama-2-7b&cluster=dgx-h100&gpus=64&seq=4096&global-batch=512&tokens=200B&beside=dgx-a100-80gb"));
  await expect(page.locator('[data-table="cost"] tbody tr').nth(1)).toContainText("$");
  await expectForAll(page);
});
