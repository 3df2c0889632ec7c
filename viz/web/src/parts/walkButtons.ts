/** Arrow keys in a list of buttons: Up and Down go to the one before or after. */
export function walkButtons(event: KeyboardEvent & { currentTarget: Element }): void {
  if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
  const all = [...event.currentTarget.querySelectorAll<HTMLButtonElement>("button:enabled")];
  const here = all.findIndex((button) => button === document.activeElement);
  const next = all[here + (event.key === "ArrowDown" ? 1 : -1)];
  event.preventDefault(); // the panel scrolls with the focus
  next?.focus();
}
