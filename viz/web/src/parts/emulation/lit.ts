/** The lane, bank or sector that the reader points at, which lights wherever it is shown. */
import { computed, signal } from "@preact/signals";
import { emulation } from "./store";
import { at } from "./stepping";
import { type Access, accessesAt } from "./walk";

type Lit = { kind: "lane"; lane: number } | { kind: "place"; place: number };

/** What the pointer is on. */
export const pointed = signal<Lit | null>(null);
/** What was pressed: it stays while the reader steps. */
export const pressed = signal<Lit | null>(null);
/** Of several accesses of one instruction, the one that is shown. */
export const chosenAccess = signal(0);

/** The accesses of the instruction that is looked at. */
export const accesses = computed<readonly Access[]>(() =>
  emulation.value ? accessesAt(emulation.value.walk, at.value) : [],
);
export const access = computed<Access | null>(
  () => accesses.value[Math.min(chosenAccess.value, accesses.value.length - 1)] ?? null,
);

const same = (a: Lit, b: Lit | null): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Keeps it lit, or no longer. */
export function press(what: Lit): void {
  pressed.value = same(what, pressed.peek()) ? null : what;
}

/** False if nothing was kept lit. */
export function unpress(): boolean {
  const was = pressed.peek();
  pressed.value = null;
  return was !== null;
}

/** The lanes that are lit: one, or those of a bank or sector. */
export const litLanes = computed<ReadonlySet<number>>(() => {
  const what = pointed.value ?? pressed.value;
  if (!what) return new Set();
  if (what.kind === "lane") return new Set([what.lane]);
  const hits = access.value?.served?.hits ?? [];
  return new Set(hits.flatMap(([place, , lanes]) => (place === what.place ? lanes : [])));
});

/** The banks or sectors that are lit: one, or those of a lane. */
export const litPlaces = computed<ReadonlySet<number>>(() => {
  const what = pointed.value ?? pressed.value;
  if (!what) return new Set();
  if (what.kind === "place") return new Set([what.place]);
  const hits = access.value?.served?.hits ?? [];
  return new Set(hits.flatMap(([place, , lanes]) => (lanes.includes(what.lane) ? [place] : [])));
});
