/** Copies the address of what is looked at, with the name of the trace; the button for it says so for a moment. */
import { signal } from "@preact/signals";
import { fileName } from "../../state/actions";
import { flushAddress } from "../../state/link/address";
import { namingTrace } from "../../state/link/named";
import { run } from "../../state/state";
import { copyText, SAID_MS } from "../../ui/code/copy";

export const linkCopied = signal(false);

export async function copyLink(): Promise<void> {
  flushAddress();
  const name = fileName(run.peek()?.file);
  const link = name ? namingTrace(location.href, name) : location.href;
  linkCopied.value = await copyText(link, "Link");
  setTimeout(() => (linkCopied.value = false), SAID_MS);
}
