// Debian's chromium; Playwright's own browsers are never fetched.
import { accessSync } from "node:fs";

function chromium(): string {
  const places = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  for (const place of places) {
    if (!place) continue;
    try {
      accessSync(place);
      return place;
    } catch {
      // the next
    }
  }
  throw new Error("chromium is not installed: run scripts/install-deps, or set CHROMIUM to its path");
}

export const browser = {
  launchOptions: {
    executablePath: chromium(),
    // The browser's own sandbox does not start as root.
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  },
};
