/** A button that opens a list or a card next to itself. Closes on Escape, choice, outside click. */
import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef } from "preact/hooks";

interface MenuProps {
  label: string;
  /** Of the button. */
  id?: string;
  button: ComponentChildren;
  class?: string;
  title?: string;
  disabled?: boolean;
  /** Whether it is open, where others may open it, too. */
  opened?: Signal<boolean>;
  /** Of what opens. */
  popup?: string;
  /** What opens; gets a function that closes it. */
  children: (close: () => void) => ComponentChildren;
}

export function Menu(props: MenuProps) {
  const own = useSignal(false);
  const opened = props.opened ?? own;
  const open = opened.value;
  // A signal: a menu that is open before its button is there appears with it.
  const trigger = useSignal<HTMLButtonElement | null>(null);
  const attach = useCallback((el: HTMLButtonElement | null) => void (trigger.value = el), []);
  const close = (): void => {
    opened.value = false;
    trigger.value?.focus();
  };
  return (
    <>
      <button
        ref={attach}
        id={props.id}
        type="button"
        class={props.class ?? "btn sm"}
        aria-haspopup="true"
        aria-expanded={open}
        aria-label={props.label}
        title={props.title}
        disabled={props.disabled}
        onClick={() => (opened.value = !open)}
      >
        {props.button}
      </button>
      {open && trigger.value && (
        <Popup
          anchor={trigger.value}
          label={props.label}
          class={props.popup ?? ""}
          close={close}
        >
          {props.children(close)}
        </Popup>
      )}
    </>
  );
}

interface PopupProps {
  anchor: HTMLElement;
  label: string;
  class: string;
  close: () => void;
  children: ComponentChildren;
}

function Popup({ anchor, label, class: more, close, children }: PopupProps) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const el = box.current;
    if (!el) return;
    const place = (): void => {
      const at = anchor.getBoundingClientRect();
      const { width, height } = el.getBoundingClientRect();
      const left = Math.max(8, Math.min(at.left, innerWidth - width - 8));
      const below = at.bottom + 4;
      const top = below + height > innerHeight - 8 ? Math.max(8, at.top - height - 4) : below;
      el.style.left = `${left}px`;
      el.style.top = `${top}px`;
    };
    place();
    const sizes = new ResizeObserver(place); // its content may come later
    sizes.observe(el);
    const chosen = el.querySelectorAll<HTMLElement>('.mi[aria-checked="true"]');
    const first = el.querySelector<HTMLElement>("input, .mi") ?? el;
    (chosen.length === 1 ? chosen[0]! : first).focus(); // which brings it into view
    return () => sizes.disconnect();
  }, []);
  useEffect(() => {
    const outside = (e: PointerEvent): void => {
      const target = e.target as Node;
      if (!box.current?.contains(target) && !anchor.contains(target)) close();
    };
    addEventListener("pointerdown", outside, true);
    return () => removeEventListener("pointerdown", outside, true);
  });
  const onKeyDown = (e: KeyboardEvent): void => {
    e.stopPropagation();
    if (e.key === "Escape") close();
    if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
    if ((e.target as HTMLElement).matches("select, input[type=number], input[list]")) return;
    e.preventDefault();
    const items = [...(box.current?.querySelectorAll<HTMLElement>("input, .mi") ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    items[(at + (e.key === "ArrowDown" ? 1 : -1) + items.length) % items.length]?.focus();
  };
  return (
    <div
      class={`menu ${more}`.trim()}
      ref={box}
      role="dialog"
      aria-label={label}
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      {children}
    </div>
  );
}

interface ItemProps {
  onClick: () => void;
  disabled?: boolean;
  ticked?: boolean;
  hint?: string;
  children: ComponentChildren;
}

/** One line of a menu; with a tick column if `ticked` is given. */
export function MenuItem({ onClick, disabled, ticked, hint, children }: ItemProps) {
  return (
    <button
      type="button"
      class="mi"
      role={ticked === undefined ? undefined : "checkbox"}
      aria-checked={ticked}
      disabled={disabled}
      onClick={onClick}
    >
      {ticked !== undefined && <span class="tick" aria-hidden="true">{ticked ? "✓" : ""}</span>}
      <span class="el sp">{children}</span>
      {hint && <span class="t3 small num">{hint}</span>}
    </button>
  );
}
