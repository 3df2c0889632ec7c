/** A link within the page: a click goes there at once, and the browser can open it elsewhere. */
import type { ComponentChildren } from "preact";
import { followLink } from "../state/actions";

interface GoProps {
  /** "#kernel=7"; see links.ts. */
  to: string;
  class?: string;
  title?: string;
  label?: string;
  /** Not the first of its line: arrow keys lead to it (arrows.ts). */
  inner?: boolean;
  children: ComponentChildren;
}

export function Go({ to, title, label, inner = false, children, ...rest }: GoProps) {
  return (
    <a
      class={rest.class ?? "link"}
      href={to}
      title={title}
      aria-label={label}
      tabIndex={inner ? -1 : undefined}
      onClick={(e) => {
        if (e.button !== 0 || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
        e.preventDefault();
        e.stopPropagation();
        followLink(to);
      }}
    >
      {children}
    </a>
  );
}
