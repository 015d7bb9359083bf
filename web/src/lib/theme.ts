// Light or dark: as the system says, until the reader chooses.
import { signal } from "@preact/signals";

export type Theme = "light" | "dark";

const kKey = "headway-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function remembered(): Theme | null {
  try {
    const value = localStorage.getItem(kKey);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null; // storage may be forbidden
  }
}

let chosen = remembered();
export const theme = signal<Theme>("light");

function show(): void {
  theme.value = chosen ?? (system.matches ? "dark" : "light");
  document.documentElement.dataset.theme = theme.value;
}

export function followTheme(): void {
  system.addEventListener("change", show);
  show();
}

export function toggleTheme(): void {
  chosen = theme.value === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(kKey, chosen);
  } catch {
    // Then the choice lasts as long as the page.
  }
  show();
}
