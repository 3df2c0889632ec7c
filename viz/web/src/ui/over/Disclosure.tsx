/** A closed row with the one number that matters, which opens to the rest; it stays as it was left. */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Icon } from "../Icon";

/** Those that the reader opened, or closed where they begin open, by their names. */
const turned = signal<ReadonlySet<string>>(new Set());

interface DisclosureProps {
  /** Unique: what is open is remembered by it. */
  id: string;
  title: ComponentChildren;
  /** At its right end. */
  figure: ComponentChildren;
  /** Whether it is open until the reader closes it. */
  begins?: boolean;
  children: () => ComponentChildren;
}

export function Disclosure({ id, title, figure, begins = false, children }: DisclosureProps) {
  const open = turned.value.has(id) !== begins;
  return (
    <section class="disclosure">
      <h3>
        <button
          type="button"
          class="disclose"
          aria-expanded={open}
          onClick={() => {
            const next = new Set(turned.peek());
            if (!next.delete(id)) next.add(id);
            turned.value = next;
          }}
        >
          <span class={open ? "turned" : ""}>
            <Icon name="right" />
          </span>
          <span class="el">{title}</span>
          <span class="sp" />
          <span class="t2 num nw">{figure}</span>
        </button>
      </h3>
      {open && <div class="within">{children()}</div>}
    </section>
  );
}
