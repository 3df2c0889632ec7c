/** A dialog over the page: the focus stays inside, and a click beside it closes it. */
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { overlay } from "../../state/state";
import { useModal } from "./useModal";

interface SheetProps {
  label: string;
  class?: string;
  /** At the left of the foot. */
  foot?: ComponentChildren;
  children: ComponentChildren;
}

export function Sheet({ label, class: more, foot, children }: SheetProps) {
  const box = useRef<HTMLDivElement>(null);
  const keepInside = useModal(box);
  return (
    <>
      <div class="scrim" onClick={() => (overlay.value = null)} />
      <div
        class={`palette sheet ${more ?? ""}`.trim()}
        role="dialog"
        aria-label={label}
        aria-modal="true"
        tabIndex={-1}
        ref={box}
        onKeyDown={keepInside}
      >
        {children}
        <div class="foot">
          {foot}
          <span class="sp" />
          <kbd>Esc</kbd> closes
        </div>
      </div>
    </>
  );
}
