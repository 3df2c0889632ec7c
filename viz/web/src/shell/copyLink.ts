/** Copies the address of what is looked at; the button for it says so for a moment. */
import { signal } from "@preact/signals";
import { flushAddress } from "../state/link/address";
import { copyText, SAID_MS } from "../ui/copy";

export const linkCopied = signal(false);

export async function copyLink(): Promise<void> {
  flushAddress();
  linkCopied.value = await copyText(location.href, "Link");
  setTimeout(() => (linkCopied.value = false), SAID_MS);
}
