import { defineConfig } from "@playwright/test";

import { browser } from "./tests/browser";

// Takes the pictures of docs/web: npm run screenshots.
export default defineConfig({
  testDir: "tests",
  testMatch: "*.shots.ts",
  outputDir: "../build/web-tests/screenshots",
  globalSetup: "./tests/server.ts",
  workers: 1,
  timeout: 60_000,
  reporter: "list",
  use: { ...browser },
});
