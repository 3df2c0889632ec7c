/** What took the time of the stretch that is shown: kernels, passes and groups by name. */
import { computed, signal } from "@preact/signals";
import { count, micros, short } from "../../state/format";
import { SortHead, sorted, type Column } from "../../ui/SortHead";
import { VirtualList } from "../../ui/VirtualList";
import { namePick, pickedName } from "./data/pick";
import { HUES, type Total } from "./data/spans";
import { inView, litName, timelineData } from "./data/store";
import { timelineLink, goTimeline } from "./data/link";
import { kernelNamed } from "./data/jump";

const LINE = 26;
const LONGEST = 20_000;
const KIND: Record<(typeof HUES)[number], string> = {
  schedule: "schedule",
  kernel: "compile",
  pass: "pass",
  group: "group",
  launch: "launch",
};

const columns: readonly Column<Total>[] = [
  { key: "name", name: "Name", value: (t) => timelineData.peek()?.names[t.name] ?? "" },
  { key: "calls", name: "Calls", value: (t) => callsOf(t) },
  { key: "kind", name: "Kind", value: (t) => KIND[HUES[t.hue]!] },
  { key: "count", name: "Count", value: (t) => t.count, right: true },
  { key: "mean", name: "Mean", value: (t) => t.total / t.count, right: true },
  { key: "longest", name: "Longest", value: (t) => t.longest, right: true },
  { key: "total", name: "Total", value: (t) => t.total, right: true },
];
/** The user's calls that a kernel computes, such as "conv2d, relu"; "" for anything else. */
const callsOf = (t: Total): string =>
  kernelNamed(timelineData.peek()?.names[t.name] ?? "")?.calls ?? "";
const order = signal("-total");
const cursor = signal<string | null>(null);
const listed = computed(() => sorted(inView.value, columns, order.value).slice(0, LONGEST));
const most = computed(() => inView.value.reduce((m, t) => Math.max(m, t.total), 0));

export function InView() {
  const names = timelineData.value?.names ?? [];
  const left = inView.value.length - listed.value.length;
  const pick = (t: Total | undefined): void => {
    if (!t) return;
    const name = names[t.name] ?? "";
    goTimeline({ pick: pickedName(timelineLink.peek().pick) === name ? null : namePick(name) });
  };
  return (
    <section class="grid-list inview" data-region="Time by name" aria-label="Time by name">
      <div class="ph">
        <b>Time by name</b>
        <span class="t3">in the visible range</span>
        <span class="sp" />
        <span class="t3 num">{count(inView.value.length)} names</span>
        {left > 0 && <span class="t3 num">{count(left)} not listed</span>}
      </div>
      <SortHead columns={columns} order={order.value} onOrder={(key) => (order.value = key)} />
      <VirtualList
        id="inview"
        class="tree"
        role="listbox"
        label="Time by name"
        items={listed.value}
        keyOf={keyOf}
        lineHeight={LINE}
        cursor={cursor.value}
        reveal={null}
        onCursor={(key) => (cursor.value = key)}
        onKey={(e, t) => {
          if (e.key !== "Enter" && e.key !== " ") return;
          e.preventDefault();
          e.stopPropagation();
          pick(t);
        }}
        draw={(t, i) => (
          <div
            key={keyOf(t)}
            id={`inview-${keyOf(t)}`}
            role="option"
            aria-selected={t.name === litName.value}
            class={["trow", t.name === litName.value && "sel", cursor.value === keyOf(t) && "cur"]
              .filter(Boolean)
              .join(" ")}
            style={{ top: `${i * LINE}px`, height: `${LINE}px` }}
            onClick={() => {
              cursor.value = keyOf(t);
              pick(t);
            }}
          >
            <span class="el mono b" title={short(names[t.name] ?? "?", 1000)}>
              {short(names[t.name] ?? "?")}
            </span>
            <span class="el t2" title={short(callsOf(t), 1000)}>
              {short(callsOf(t))}
            </span>
            <span class="el t2">
              <i class={`hue ${HUES[t.hue]!}`} aria-hidden="true" />
              {KIND[HUES[t.hue]!]}
            </span>
            <span class="num r">{count(t.count)}</span>
            <span class="num r">{micros(t.total / t.count)}</span>
            <span class="num r">{micros(t.longest)}</span>
            <span class="num r b">{micros(t.total)}</span>
            <span class="bar" aria-hidden="true">
              <i style={{ width: `${most.value ? (100 * t.total) / most.value : 0}%` }} />
            </span>
          </div>
        )}
      />
    </section>
  );
}

const keyOf = (t: Total): string => `${t.name}.${t.hue}`;
