/** Light or dark: by the system until the reader decides. Tells the canvases when it changes. */
import { computed, effect, signal } from "@preact/signals";
import { theme } from "./prefs";

const system = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(system.matches);

export const dark = computed(() =>
  theme.value === "system" ? systemDark.value : theme.value === "dark",
);

/** Counts changes; drawing code that has read colours from CSS depends on it. */
export const themeVersion = signal(0);

export function startTheme(): void {
  system.addEventListener("change", (e) => (systemDark.value = e.matches));
  matchMedia("(forced-colors: active)").addEventListener("change", () => {
    themeVersion.value = themeVersion.peek() + 1;
  });
  effect(() => {
    const root = document.documentElement;
    if (theme.value === "system") delete root.dataset.theme;
    else root.dataset.theme = theme.value;
    void dark.value;
    themeVersion.value = themeVersion.peek() + 1;
  });
}

export function toggleTheme(): void {
  theme.value = dark.peek() ? "light" : "dark";
}
