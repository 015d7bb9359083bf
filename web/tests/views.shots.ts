// The pictures of docs/web: each view at 1280 pixels, some in dark and at 400. A picture is small enough
// to be in a repository: no more of a page than its first screens.
import { mkdirSync, writeFileSync } from "node:fs";

import { expect, test, type Page } from "@playwright/test";

import { repository } from "./command";
import { smaller } from "./png";

interface Shot {
  readonly name: string;
  readonly address: string;
  /** What is there when the answer is. */
  readonly ready: string;
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  readonly print?: boolean;
}

const kStep =
  "#/step?model=llama-3.1-70b&cluster=dgx-h100&gpus=64&seq=8192&global-batch=128&tp=8&pp=4&recompute=selective";
const kPlan = "#/plan?model=llama-3.1-70b&cluster=dgx-h100&gpus=256&seq=8192&global-batch=512";
// A machine, a later one, and the first with a network of four times the bandwidth and a quarter of the latency.
const kLimits =
  "#/limits?gpu=h100-sxm,gb200-nvl72&own1=better network,base:h100-sxm,levels.fabric.latency:2.813e-7,levels.fabric.bandwidth:200000000000";

// Experts over a node, requests at random moments, with limits to keep to.
const kServe =
  "#/serve?model=deepseek-v3&cluster=dgx-h200&input-len=2000&output-len=500&rate=3&ttft=2+s&tpot=50+ms&tp=8&ep=8&weights=fp8-block&cache=fp8";

const kShots: readonly Shot[] = [
  { name: "step", address: kStep, ready: ".timeline canvas", height: 1120 },
  { name: "step-dark", address: kStep, ready: ".timeline canvas", height: 1120, dark: true },
  { name: "step-400", address: kStep, ready: ".timeline canvas", width: 400, height: 1700 },
  { name: "step-400-dark", address: kStep, ready: ".timeline canvas", width: 400, height: 1700, dark: true },
  { name: "step-print", address: kStep, ready: ".sumbar-part", width: 800, height: 1130, print: true },
  { name: "plan", address: kPlan, ready: '[data-table="best"]', height: 1000 },
  { name: "plan-400", address: kPlan, ready: '[data-table="best"]', width: 400, height: 1700 },
  { name: "scale", address: "#/scale", ready: "svg.chart-drawing", height: 1150 },
  { name: "scale-400", address: "#/scale", ready: "svg.chart-drawing", width: 400, height: 1700 },
  { name: "scale-run", address: "#/scale?sweep=run", ready: "svg.chart-drawing", height: 1000 },
  { name: "cost", address: "#/cost", ready: '[data-table="cost"] .money', height: 900 },
  { name: "cost-400", address: "#/cost", ready: '[data-table="cost"] .money', width: 400, height: 1500 },
  { name: "cost-print", address: "#/cost", ready: '[data-table="cost"] .money', width: 800, height: 1130, print: true },
  { name: "scale-methods", address: "#/scale?sweep=methods", ready: "#methods-headline", height: 1000 },
  { name: "jobs", address: "#/jobs", ready: "svg.chart-drawing", height: 1000 },
  { name: "jobs-400", address: "#/jobs", ready: "svg.chart-drawing", width: 400, height: 1400 },
  { name: "serve", address: kServe, ready: "svg.chart-drawing", height: 1400 },
  { name: "serve-dark", address: kServe, ready: "svg.chart-drawing", height: 1400, dark: true },
  { name: "serve-400", address: kServe, ready: "svg.chart-drawing", width: 400, height: 1700 },
  { name: "limits", address: kLimits, ready: "svg.chart-drawing", height: 1000 },
  { name: "limits-dark", address: kLimits, ready: "svg.chart-drawing", height: 1000, dark: true },
  { name: "limits-400", address: kLimits, ready: "svg.chart-drawing", width: 400, height: 1400 },
  { name: "comms", address: "#/comms", ready: "svg.chart-drawing", height: 1000 },
  { name: "comms-400", address: "#/comms", ready: "svg.chart-drawing", width: 400, height: 1700 },
  { name: "trust", address: "#/trust", ready: "svg.chart-drawing", height: 1000 },
];

// Drawn by an effect after the answer is there.
async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
  await page.waitForTimeout(300);
}

mkdirSync(`${repository}docs/web`, { recursive: true });
for (const shot of kShots) {
  test(shot.name, async ({ page }) => {
    await page.setViewportSize({ width: shot.width ?? 1280, height: shot.height ?? 900 });
    await page.emulateMedia({ colorScheme: shot.dark ? "dark" : "light", media: shot.print ? "print" : "screen" });
    await page.goto(`${process.env.HEADWAY_URL}${shot.address}`);
    await expect(page.locator(shot.ready).first()).toBeVisible({ timeout: 50_000 });
    await settled(page);
    const picture = smaller(await page.screenshot());
    expect(picture.length, "bytes of the picture").toBeLessThan(150_000);
    writeFileSync(`${repository}docs/web/${shot.name}.png`, picture);
  });
}
