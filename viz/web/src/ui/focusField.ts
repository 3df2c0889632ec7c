/** Puts the focus into a text field, with its text selected. */
export function focusField(selector: string): void {
  const input = document.querySelector<HTMLInputElement>(selector);
  input?.focus();
  input?.select();
}
