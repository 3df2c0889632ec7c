/** A list that draws only the lines in view, each of one height, and keeps one cursor line. */
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { visibleRange } from "./visibleRange";

interface VirtualListProps<T> {
  id: string;
  items: readonly T[];
  keyOf: (item: T) => string;
  lineHeight: number;
  cursor: string | null;
  /** Scrolled into view when it changes. */
  reveal: string | null;
  /** What `reveal` is a line of: that of another one is scrolled into view under the same key. */
  of?: number | null;
  role: "tree" | "listbox";
  label: string;
  class: string;
  draw: (item: T, index: number) => JSX.Element;
  /** Lines that are drawn on each side of those in view. */
  spare?: number;
  /** What lies over the lines, and moves with them. */
  over?: JSX.Element;
  /** Lines that the cursor passes over. */
  isHead?: (item: T) => boolean;
  onCursor: (key: string) => void;
  onKey: (e: KeyboardEvent, item: T | undefined) => void;
}

export function VirtualList<T>(props: VirtualListProps<T>) {
  const { items, keyOf, lineHeight } = props;
  const box = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState(0);
  const [height, setHeight] = useState(600);
  const anchor = useRef<{ key: string; offset: number } | null>(null);
  // Asking the element where it is costs a layout of the page, at every step.
  const position = useRef(0);
  const measured = useRef<number | null>(null);
  /** Asked of the element once; from then on the observer tells it, after each drawing. */
  const heightNow = (): number => (measured.current ??= box.current!.clientHeight);
  const scrollTo = (top: number): void => {
    const most = Math.max(0, items.length * lineHeight - heightNow());
    position.current = Math.max(0, Math.min(top, most));
    box.current!.scrollTop = position.current;
  };

  useLayoutEffect(() => {
    const el = box.current!;
    const watch = new ResizeObserver(() => setHeight((measured.current = el.clientHeight)));
    watch.observe(el);
    return () => watch.disconnect();
  }, []);

  // Lines that arrive above what is being read must not push it away.
  useLayoutEffect(() => {
    const kept = anchor.current;
    if (!kept || position.current === 0) return;
    const at = items.findIndex((item) => keyOf(item) === kept.key);
    if (at >= 0) {
      const top = at * lineHeight + kept.offset;
      if (Math.abs(top - position.current) >= 1) scrollTo(top);
    }
  }, [items]);

  const show = (key: string | null): void => {
    const at = key === null ? -1 : items.findIndex((item) => keyOf(item) === key);
    if (at < 0) return;
    const top = at * lineHeight;
    if (top < position.current + lineHeight) scrollTo(top - 3 * lineHeight);
    else {
      const now = heightNow();
      if (top + 2 * lineHeight > position.current + now)
        scrollTo(Math.ceil((top + 4 * lineHeight - now) / lineHeight) * lineHeight);
    }
  };
  const revealAt = props.reveal === null ? -1 : items.findIndex((i) => keyOf(i) === props.reveal);
  useLayoutEffect(() => show(props.reveal), [props.reveal, props.of, revealAt < 0]);

  /** The first line from there on that is no head. */
  const lineFrom = (from: number, way: 1 | -1): T | undefined => {
    let next = from;
    let item = items[next];
    while (item !== undefined && props.isHead?.(item)) item = items[(next += way)];
    return item;
  };
  const move = (to: number): void => {
    const next = Math.max(0, Math.min(items.length - 1, to));
    const way = next < at ? -1 : 1;
    const item = lineFrom(next, way) ?? lineFrom(next, way === 1 ? -1 : 1); // a head may be the first of all
    if (item === undefined) return;
    props.onCursor(keyOf(item));
    show(keyOf(item));
  };
  /** Where there is no cursor, a key of the search field is for what was found first. */
  const firstFor = (e: KeyboardEvent): T | undefined => {
    if (e.key !== "Enter" || document.activeElement === box.current) return undefined;
    const first = items.find((item) => !props.isHead?.(item));
    if (first !== undefined) props.onCursor(keyOf(first));
    return first;
  };
  const { from, to } = visibleRange(scroll, height, lineHeight, items.length, props.spare);
  const at = props.cursor === null ? -1 : items.findIndex((item) => keyOf(item) === props.cursor);
  return (
    <div
      ref={box}
      id={props.id}
      class={props.class}
      role={props.role}
      tabIndex={0}
      aria-label={props.label}
      aria-activedescendant={at >= from && at < to ? `${props.id}-${props.cursor}` : undefined}
      onScroll={(e) => {
        const top = e.currentTarget.scrollTop;
        position.current = top;
        setScroll(top);
        const first = items[Math.floor(top / lineHeight)];
        anchor.current =
          first !== undefined ? { key: keyOf(first), offset: top % lineHeight } : null;
      }}
      onKeyDown={(e) => {
        if (e.ctrlKey || e.metaKey || e.altKey) return;
        const page = Math.max(1, Math.floor(height / lineHeight) - 1);
        const steps: Record<string, number> = {
          ArrowDown: at + 1,
          ArrowUp: at < 0 ? 0 : at - 1,
          PageDown: at + page,
          PageUp: at - page,
          Home: 0,
          End: items.length - 1,
        };
        const target = steps[e.key];
        if (target !== undefined) {
          e.preventDefault();
          e.stopPropagation();
          move(target);
        } else props.onKey(e, items[at] ?? firstFor(e));
      }}
    >
      <div class="space" role="presentation" style={{ height: `${items.length * lineHeight}px` }}>
        {items.slice(from, to).map((item, i) => props.draw(item, from + i))}
        {props.over}
      </div>
    </div>
  );
}
