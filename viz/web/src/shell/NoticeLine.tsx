/** The line under the subject line: one notice at a time, with its actions; the others as "1 of 2". */
import { signal } from "@preact/signals";
import { shownOf } from "../parts/notice";
import { Icon } from "../ui/Icon";
import { notices } from "./panels";

/** The notice that the reader walked to; another one of more weight takes its place. */
const walkedTo = signal<string | null>(null);

export function NoticeLine() {
  const all = shownOf(notices);
  const at = Math.max(
    0,
    all.findIndex((one) => one.id === walkedTo.value),
  );
  const now = all[at];
  if (!now) return null;
  const walk = (way: 1 | -1): void =>
    void (walkedTo.value = all[(at + way + all.length) % all.length]!.id);
  return (
    <section
      class={`notice ${now.order === "finished" || now.order === "whatif" ? "info" : ""}`}
      data-region="Notice"
      data-notice={now.id}
      aria-label="Notice"
    >
      <span class="nb" aria-hidden="true">
        {SIGNS[now.order]}
      </span>
      <span class="el" role="status" title={now.words}>
        {now.text}
      </span>
      <span class="sp" />
      {now.actions.map(({ title, hint, disabled, run }) => (
        <button type="button" class="btn sm" key={title} title={hint} disabled={disabled} onClick={run}>
          {title}
        </button>
      ))}
      {all.length > 1 && (
        <span class="row g4" role="group" aria-label="Notices">
          <button
            type="button"
            class="btn sm ico quiet"
            aria-label="Previous notice"
            onClick={() => walk(-1)}
          >
            <Icon name="prev" />
          </button>
          <span class="t2 num nw">
            {at + 1} of {all.length}
          </span>
          <button
            type="button"
            class="btn sm ico quiet"
            aria-label="Next notice"
            onClick={() => walk(1)}
          >
            <Icon name="right" />
          </button>
        </span>
      )}
      {now.close && (
        <button
          type="button"
          class="btn sm ico quiet"
          aria-label="Close the notice"
          onClick={now.close}
        >
          <Icon name="close" />
        </button>
      )}
    </section>
  );
}

const SIGNS = { lost: "▲", again: "◆",
 problem: "!", rule: "◆", whatif: "◆", finished: "■" } as const;
