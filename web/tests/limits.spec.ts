import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Page } from "@playwright/test";

import { count, percent } from "../src/lib/format";
import { flops, limitSentence, linearTo, wallOf, wallSentences } from "../src/views/limits/curves";
import type { LimitsDocument, LimitsSetting } from "../src/views/limits/documents";
import { kLaws } from "../src/views/limits/knobs";
import { kFirst } from "../src/views/limits/state";
import { headway } from "./command";
import { at, beginTask, expect, expectAccessible, expectForAll, kServed, test } from "./page";

/** What the command line says of a setting in a file. */
function ofFile(text: string): LimitsSetting {
  const folder = mkdtempSync(join(tmpdir(), "headway-web-"));
  try {
    const path = join(folder, "setting.toml");
    writeFileSync(path, text);
    return headway<LimitsDocument>("limits", path, "--smooth").settings[0]!;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const ofMachine = (name: string) => headway<LimitsDocument>("limits", "--gpu", name, "--smooth").settings[0]!;

const table = (page: Page) => page.getByRole("region", { name: "Limits of each setting" });
const row = (page: Page, name: string) =>
  table(page)
    .getByRole("row")
    .filter({ has: page.getByRole("cell", { name, exact: true }).first() });

async function expectLimits(page: Page, name: string, said: LimitsSetting): Promise<void> {
  const cells = row(page, name).first().getByRole("cell");
  await expect(cells.nth(3)).toHaveText(flops(linearTo(said)));
  await expect(cells.nth(4)).toHaveText(flops(wallOf(said)));
  await expect(cells.nth(5)).toHaveText(flops(said.linear_scaling_end_flop));
  await expect(cells.nth(7)).toHaveText(flops(said.last_feasible_flop));
  await expect(cells.nth(8)).toHaveText(percent(said.rows[said.rows.length - 1]!.utilization));
}

test("machines side by side have the limits that the command line gives", async ({ page }) => {
  await page.goto(at("#/limits?gpu=h100-sxm,gb200-nvl72"));
  for (const name of ["h100-sxm", "gb200-nvl72"]) {
    await expectLimits(page, name, ofMachine(name));
  }
  await expect(page.getByText("training compute (FLOP)").first()).toBeVisible();
  await expect(page.getByText("utilisation (share of the dense peak)").first()).toBeVisible();
});

test("what stops training at 1e29 FLOP on B200: a machine is added, and its walls are told", async ({ page }) => {
  const said = ofMachine("b200");
  await page.goto(at("#/limits"));
  const answered = beginTask(page, kFirst);
  await page.getByLabel("Add a machine").selectOption("b200");
  const walls = page.locator(".walls li");
  await expect(walls).toHaveText(wallSentences(said));
  // The sentence in whose range that lies.
  expect(linearTo(said)).toBeLessThan(1e29);
  await expect(walls.first()).toContainText(/Beyond, most is lost to/);
  answered(["gpu", "show"]);
});

test("a moved slider gives what the command line says of such a machine", async ({ page }) => {
  await page.goto(at("#/limits?own1=mine,base:h100-sxm"));
  await expectLimits(page, "mine", ofMachine("h100-sxm"));
  await page.getByText("Arithmetic", { exact: true }).click();
  const slider = page.getByRole("slider", { name: "kernel latency" });
  await slider.focus();
  for (let i = 0; i < 4; ++i) await slider.press("ArrowLeft"); // a quarter of a doubling each
  const nodes = page.getByRole("slider", { name: "node: GPUs" });
  await nodes.focus();
  for (let i = 0; i < 8; ++i) await nodes.press("ArrowRight");
  const said = ofFile(
    'name = "mine"\n[machine]\nbase = "h100-sxm"\nkernel_latency = "2.25 us"\n[machine.levels.node]\nsize = 32\n',
  );
  await expectLimits(page, "mine", said);
  await expect(slider).toHaveAttribute("aria-valuetext", /2\.25 us, ×0\.5/);
  await expect(page).toHaveURL(/kernel_latency:0\.00000225/);
});

test("a setting of one's own is saved as a file that the command line reads", async ({ page }) => {
  await page.goto(at("#/limits?own1=mine,base:h100-sxm,kernel_latency:0.00000225,levels.node.size:32,batch.tokens:8000000"));
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save the setting as a file" }).click();
  const said = ofFile(readFileSync(await (await download).path(), "utf8"));
  await expectLimits(page, "mine", said);
  await expect(page.getByRole("heading", { name: limitSentence(said) })).toBeVisible();
});

test("a pinned setting stands beside the edited one, drawn and in numbers, and the address holds both", kServed, async ({ page }) => {
  await page.goto(at("#/limits?own1=mine,base:h100-sxm"));
  await page.getByRole("button", { name: "Pin as A" }).click();
  await page.getByText("Arithmetic", { exact: true }).click();
  const slider = page.getByRole("slider", { name: "kernel latency" });
  await slider.focus();
  for (let i = 0; i < 4; ++i) await slider.press("ArrowLeft");
  const said = ofFile('name = "mine"\n[machine]\nbase = "h100-sxm"\nkernel_latency = "2.25 us"\n');
  const wall = page.locator('[data-table="differences"] tbody tr').filter({ hasText: "wall (FLOP)" }).first();
  const expectBoth = async () => {
    await expectLimits(page, "A: mine", ofMachine("h100-sxm"));
    await expectLimits(page, "mine", said);
    for (const each of [ofMachine("h100-sxm"), said]) await expect(wall).toContainText(flops(each.smooth!.wall_flop));
    await expect(page.locator(".pin")).toContainText("kernel_latency as the machine's → 0.00000225");
  };
  await expectBoth();
  await page.reload();
  await expectBoth();
});

// The time of one request without sliders and drawings, in the browser.
async function askDirectly(bandwidth: number): Promise<number> {
  const machine = { base: "h100-sxm", levels: { fabric: { bandwidth: `${bandwidth} GB/s` } } };
  const begin = performance.now();
  const headers = { "Content-Type": "application/json" };
  const response = await fetch("api/limits", {
    method: "POST",
    headers,
    body: JSON.stringify({ settings: [{ name: "x", machine }] }),
  });
  await response.text();
  return performance.now() - begin;
}

test("answers while a slider moves, and says how fast", kServed, async ({ page }, info) => {
  await page.goto(at("#/limits?own1=mine,base:h100-sxm"));
  await expect(row(page, "mine").first()).toBeVisible();
  const slider = page.getByRole("slider", { name: "fabric: bandwidth of a GPU" });
  await slider.focus();
  const times: number[] = [];
  for (let i = 0; i < 8; ++i) {
    const answered = page.waitForResponse((response) => response.url().endsWith("/api/limits"));
    const begin = Date.now();
    await slider.press("ArrowRight");
    await (await answered).finished();
    times.push(Date.now() - begin);
  }
  const direct: number[] = [];
  for (let i = 1; i <= 8; ++i) direct.push(await page.evaluate(askDirectly, 10 + i));
  const middle = (values: number[]) => values.sort((x, y) => x - y)[4]!;
  const [moved, asked] = [middle(times), middle(direct)];
  // How fast is the machine's business, so it is reported; that each move was answered is the test.
  const told = `a moved slider is answered in ${Math.round(moved)} ms, a bare request in ${Math.round(asked)} ms`;
  info.annotations.push({ type: "speed", description: told });
  console.log(`limits: ${told}`);
  expect(times).toHaveLength(8);
  await expect(slider).toHaveAttribute("aria-valuetext", /×4/);
});

test("what is wrong with a number is said beside it, and other curves stay", async ({ page }) => {
  await page.goto(at("#/limits?gpu=h100-sxm&own1=mine,base:h100-sxm,kernel_latency:-1"));
  await expect(row(page, "h100-sxm").first()).toBeVisible();
  await expect(page.getByRole("alert")).toContainText("must be greater than zero");
  await expect(page.getByRole("slider", { name: "kernel latency" })).toHaveAttribute("aria-invalid", "true");
  await page.getByRole("button", { name: "kernel latency: back to 4.50 us" }).click();
  await expect(page.getByRole("alert")).toBeEmpty();
  await expect(row(page, "mine").first()).toBeVisible();
});

test("an address restores settings, edits and choice", async ({ page, context }) => {
  await page.goto(at("#/limits"));
  await page.getByLabel("Add a machine").selectOption("b200");
  await page.getByRole("button", { name: "New setting of my own" }).click();
  await page.getByLabel("Name").fill("cheap, and far");
  await page.getByLabel("Precision").selectOption("fp8");
  await page.getByRole("slider", { name: "fabric: latency" }).fill("16");
  const cells = row(page, "cheap, and far").first().getByRole("cell");
  await expect(cells.nth(1)).toHaveText("h100-sxm, changed");
  await expect(cells.nth(2)).toHaveText("fp8");
  await expect(page.locator("#answer")).toHaveAttribute("aria-busy", "false"); // all is of the last change
  const second = await context.newPage();
  await second.goto(page.url());
  await expect(row(second, "cheap, and far").first()).toHaveText(
    await row(page, "cheap, and far").first().innerText(),
    {
      useInnerText: true,
    },
  );
  await expect(second.getByLabel("Name")).toHaveValue("cheap, and far");
  await expect(second.getByRole("slider", { name: "fabric: latency" })).toHaveValue("16");
  await expect(row(second, "b200").first()).toBeVisible();
});

test("an empty list stays empty, says what to add, and takes it", async ({ page, context }) => {
  await page.goto(at("#/limits"));
  await page.getByRole("button", { name: "Remove h100-sxm" }).click();
  await page.getByRole("button", { name: "Remove mine" }).click();
  await expect(page.getByRole("heading", { name: "No settings" })).toBeVisible();
  await expect(page.getByText(/add a machine, one of the published comparisons, or a setting/)).toBeVisible();
  await expect(page).toHaveURL(/#\/limits\?empty=true$/);
  await expectAccessible(page, "#answer");
  const second = await context.newPage();
  await second.goto(page.url());
  await expect(second.getByRole("heading", { name: "No settings" })).toBeVisible();
  await second.getByLabel("Add a machine").selectOption("b200");
  await expectLimits(second, "b200", ofMachine("b200"));
  await expect(second).toHaveURL(/#\/limits\?gpu=b200$/);
  await page.getByRole("link", { name: /Begin with an H100/ }).click();
  await expect(row(page, "mine").first()).toBeVisible();
});

test("the numbers of the curves come as a table to take along", async ({ page }) => {
  await page.goto(at("#/limits?gpu=a100-sxm"));
  await expect(row(page, "a100-sxm").first()).toBeVisible();
  const download = page.waitForEvent("download");
  await page.getByRole("group", { name: "Download Utilisation against training compute" }).getByText("CSV").click();
  const lines = readFileSync(await (await download).path(), "utf8")
    .trim()
    .split("\n");
  const { rows } = ofMachine("a100-sxm");
  expect(lines).toHaveLength(rows.length + 1);
  const head = lines[0]!.split(",");
  const last = lines[lines.length - 1]!.split(",");
  expect(Number(last[head.indexOf("utilization")])).toBe(rows[rows.length - 1]!.utilization);
});

test("arrow keys read the points of a curve, with what the others are there", async ({ page }) => {
  await page.goto(at("#/limits?gpu=h100-sxm,gb200-nvl72"));
  await expect(row(page, "h100-sxm").first()).toBeVisible();
  const plot = page.getByRole("group", { name: /^Utilisation against training compute/ });
  await plot.focus();
  await plot.press("End");
  const { rows } = ofMachine("h100-sxm");
  const last = rows[rows.length - 1]!;
  const told = plot.locator('[aria-live="polite"]');
  await expect(told).toContainText(`GPUs: ${count(last.n_gpus)}`);
  const beside = ofMachine("gb200-nvl72").rows.find(({ training_flop }) => training_flop === last.training_flop)!;
  await expect(told).toContainText(`gb200-nvl72: ${Math.round(100 * beside.utilization)} %`);
});

test("a drag over a chart shows a part of it large, keys too, and an axis is turned to logarithms", async ({ page }) => {
  await page.goto(at("#/limits?gpu=h100-sxm,b200"));
  const title = "Utilisation against training compute";
  const plot = page.getByRole("group", { name: `${title}. Arrow keys read its points.` });
  const ticks = async () => (await plot.locator(".chart-axes text:not(.chart-name)").allTextContents()).join(" ");
  await expect(plot).toBeVisible();
  await expect(page.locator("#answer")).toHaveAttribute("aria-busy", "false"); // both curves are there
  const axes = page.getByRole("group", { name: `Axes of ${title}` });
  const whole = await ticks();
  await plot.scrollIntoViewIfNeeded();
  const box = (await plot.boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.5, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.8, box.y + 220, { steps: 4 });
  await expect(plot.locator(".chart-marked")).toBeVisible();
  await page.mouse.up();
  await expect(plot.locator(".chart-marked")).toHaveCount(0);
  await expect.poll(ticks).not.toBe(whole);
  await axes.getByRole("button", { name: "whole" }).click();
  await expect.poll(ticks).toBe(whole);
  await plot.focus();
  await page.keyboard.press("+");
  await expect.poll(ticks).not.toBe(whole);
  await page.keyboard.press("0");
  await expect.poll(ticks).toBe(whole);
  const log = axes.getByRole("button", { name: "log up" });
  await log.click();
  await expect(log).toHaveAttribute("aria-pressed", "true");
  await expect.poll(ticks).not.toBe(whole);
  await log.click();
  await expect(page.getByRole("group", { name: "Axes of Degrees of the best layout" }).getByRole("button", { name: "log up" })).toHaveAttribute("aria-pressed", "true");
});

test("the end of linear scaling follows each step of a slider, and a comparison keeps the study's", async ({ page }) => {
  await page.goto(at("#/limits?preset=base_dense&own1=mine,base:h100-sxm"));
  const slider = page.getByRole("slider", { name: "fabric: bandwidth of a GPU" });
  const cell = row(page, "mine").first().getByRole("cell").nth(3);
  await expect(cell).not.toBeEmpty();
  const seen = new Set<string>();
  await slider.fill("-4");
  for (let place = -4; place <= 4; ++place) {
    const before = await cell.innerText();
    await slider.fill(String(place));
    if (place > -4) await expect(cell).not.toHaveText(before);
    seen.add(await cell.innerText());
  }
  expect(seen.size).toBeGreaterThanOrEqual(8);
  const published = row(page, "H100 SXM").first().getByRole("cell");
  await expect(published.nth(3)).toHaveText(await published.nth(5).innerText());
});

test("a number that does not bind says from where to where", async ({ page }) => {
  await page.goto(at("#/limits?own1=mine,base:h100-sxm"));
  await page.getByText("Memory", { exact: true }).click();
  await page.getByRole("slider", { name: "memory size" }).press("ArrowRight");
  await expect(page.getByText(/does not bind: .* neither limit moves/)).toBeVisible();
});

test("is read as a share, in FLOP/s, GPUs, days and money, with the layout and a sentence for each wall", async ({
  page,
}) => {
  await page.goto(at("#/limits?gpu=h100-sxm"));
  await expect(page.getByText(/Up to .* FLOP more GPUs bring almost as much/)).toBeVisible();
  await expect(page.getByText(/Beyond .* FLOP no number of GPUs ends a run in 3 months/)).toBeVisible();
  await expect(page.getByRole("group", { name: /^Degrees of the best layout/ })).toBeVisible();
  for (const [name, label] of [
    ["FLOP/s of a GPU", "useful arithmetic of a GPU (FLOP/s)"],
    ["days", "days of the run"],
    ["GPUs", "GPUs of the smallest cluster"],
    ["money", "cost of the run (US$)"],
  ]) {
    await page.getByLabel("shown as").selectOption(name!);
    await expect(page.getByText(label!).first()).toBeVisible();
  }
  const price = page.getByLabel("at US$ of a GPU and hour");
  await price.fill("4");
  await price.press("Enter");
  await expect(page).toHaveURL(/y=money&price=4/);
});

test("the sliders' laws start where the engine does", () => {
  const nested = kLaws.map(({ key, base }) => `${key} = ${base}`).join("\n");
  const stated = ofFile(`name = "x"\nmachine = "h100-sxm"\n${nested}\n`);
  const silent = ofFile('name = "x"\nmachine = "h100-sxm"\n');
  expect(stated).toEqual(silent);
});

test("can be used by all, wide and narrow, with every detail open", async ({ page }) => {
  await page.goto(at("#/limits"));
  await expect(row(page, "mine").first()).toBeVisible();
  await expectForAll(page);
});
