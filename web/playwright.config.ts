import { defineConfig } from "@playwright/test";

import { browser } from "./tests/browser";

const out = process.env.HEADWAY_WEB_OUT ?? "../build/web-tests/browser";

export default defineConfig({
  testDir: "tests",
  testMatch: "*.spec.ts",
  outputDir: `${out}/failures`,
  globalSetup: "./tests/server.ts",
  workers: 2,
  fullyParallel: true,
  timeout: 60_000,
  expect: { timeout: 20_000 },
  reporter: [["list"], ["junit", { outputFile: `${out}/tests.xml` }]],
  use: { ...browser, viewport: { width: 1280, height: 900 } },
});
