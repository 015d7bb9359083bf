import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";

import { duration, percent } from "../src/lib/format";
import { ownFiles } from "../src/lib/lines";
import type { JobsDocument } from "../src/views/jobs/documents";
import { headline } from "../src/views/jobs/numbers";
import { jobsRequest } from "../src/views/jobs/stream";
import { headway } from "./command";
import { at, expect, expectForAll, open, test } from "./page";

const kAsked = { policies: "max,cheapest", loads: "600 s,2000 s", jobs: "40", seeds: "2" };
const kAddress = `#/jobs?${new URLSearchParams(kAsked).toString()}`;

// The same stream as the file that the page would save.
function said(fields: Record<string, string>): JobsDocument {
  const [file] = ownFiles({ command: "jobs", request: jobsRequest(fields) });
  const path = `${mkdtempSync(`${tmpdir()}/headway-`)}/${file!.name}`;
  writeFileSync(path, file!.text);
  return headway<JobsDocument>("jobs", path);
}

test("a stream has the command line's blocking by policy and load", async ({ page }) => {
  await open(page, kAddress);
  const document = said(kAsked);
  await expect(page.getByRole("heading", { name: headline(document) })).toBeVisible();
  const rows = page.getByRole("region", { name: /Jobs that are blocked, by load/ }).getByRole("row");
  await expect(rows).toHaveCount(document.policies.length + 1);
  for (const [i, each] of document.policies.entries()) {
    await expect(rows.nth(i + 1)).toContainText(each.policy);
    await expect(rows.nth(i + 1)).toContainText(percent(each.blocking));
    await expect(rows.nth(i + 1)).toContainText(duration(each.jct_p50_s!));
  }
});

test("another field and another quantity are followed, and the address restores them", async ({ page, context }) => {
  await open(page, kAddress);
  await page.getByLabel("Policies", { exact: false }).first().fill("max,acceptable");
  const document = said({ ...kAsked, policies: "max,acceptable" });
  await expect(page.getByRole("heading", { name: headline(document) })).toBeVisible();
  await expect(page.getByRole("region", { name: /What a policy blocks less/ }).getByRole("row")).toHaveCount(document.gains.length + 1);
  await page.getByLabel("Show", { exact: true }).selectOption("time");
  await expect(page.getByText("Time until a job is done, by load").first()).toBeVisible();
  const second = await context.newPage();
  await second.goto(page.url());
  await expect(second.getByLabel("Show", { exact: true })).toHaveValue("time");
  await expect(second.getByRole("heading", { name: headline(document) })).toBeVisible();
});

test("a preset runs on a cluster, with forecasts as the times of jobs", async ({ page }) => {
  await page.goto(at(kAddress));
  await page.getByLabel("Begin with").selectOption("fine-tuning");
  await expect(page).toHaveURL(/on=cluster/);
  await expect(page.getByText("32 nodes of dgx-h100, 32 servers")).toBeVisible();
});

test("what is wrong stands beside its field, and the last answer stays", async ({ page }) => {
  await open(page, kAddress);
  await expect(page.locator("#jobs-headline")).toBeVisible();
  const field = page.getByLabel("A job each", { exact: false }).first();
  await field.fill("600 s,often");
  await expect(field).toHaveAttribute("aria-invalid", "true");
  await expect(page.locator("#jobs-headline")).toBeVisible();
  await page.getByLabel("Policies", { exact: false }).first().fill("best");
  await expect(page.locator('[name="policies"]')).toHaveAccessibleDescription(/best/);
});

test("the stream is saved as the file that the command line reads", async ({ page }) => {
  await open(page, kAddress);
  await expect(page.locator("pre.command")).toHaveText("headway jobs stream.toml");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save stream.toml" }).click();
  const text = readFileSync(await (await download).path(), "utf8");
  expect(text).toContain('policies = ["max", "cheapest"]');
});

test("can be used by all, wide and narrow, with every detail open", async ({ page }) => {
  await open(page, kAddress);
  await expect(page.locator("#jobs-headline")).toBeVisible();
  await expectForAll(page);
});
