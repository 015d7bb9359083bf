import { defineConfig } from "@playwright/test";

import { browser } from "./tests/browser";

const out = process.env.HEADWAY_WEB_OUT ?? "../build/web-tests/site";

// The views on the static site, build/site (scripts/build-site): the same tests as against `headway serve`, but those
// that look at what a server is asked.
export default defineConfig({
  testDir: "tests",
  testMatch: ["*.spec.ts", "*.alone.ts"],
  grepInvert: /@served/,
  outputDir: `${out}/failures`,
  globalSetup: "./tests/site.ts",
  workers: 2,
  fullyParallel: true,
  timeout: 120_000,
  expect: { timeout: 60_000 },
  reporter: [["list"], ["junit", { outputFile: `${out}/tests.xml` }]],
  use: { ...browser, viewport: { width: 1280, height: 900 } },
});
