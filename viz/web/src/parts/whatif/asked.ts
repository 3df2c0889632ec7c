/** What the reader has collected to change of a kernel: rules to leave out, where to stop, optimisations,
 * a target. Belongs to one kernel and goes with it. */
import { computed, signal } from "@preact/signals";
import type { VariantSpec } from "../../data/messages/trials/whatif";
import { plural } from "../../state/format";
import { kindName } from "../kernel/columns";
import { ancestry } from "../../data/rows";
import { compiledRowOf, currentKernel, currentRow, rows } from "../../state/state";

export const NOTHING: VariantSpec = {
  skip: [],
  stop_after: null,
  inside: "",
  opts: null,
  target: "",
};

export const asked = signal<VariantSpec>(NOTHING);

/** How long it may take, seconds. */
export const limit = signal(120);
export const LIMITS = [10, 120, 600] as const;

export const change = (part: Partial<VariantSpec>): void => {
  asked.value = { ...asked.peek(), ...part };
};

export const clear = (): void => {
  asked.value = NOTHING;
};

/** Whether anything is changed besides the code on disk. */
export const changesSomething = computed(
  () => JSON.stringify(asked.value) !== JSON.stringify(NOTHING),
);

export const isSkipped = (rule: string): boolean => asked.value.skip.includes(rule);

/** Leaves a rule out, or takes it in again; `inside`: in the rewrites of that name alone, "" for all. */
export function toggleSkip(rule: string, inside: string | null = null): void {
  const { skip } = asked.peek();
  const without = skip.filter((name) => name !== rule);
  const next = without.length < skip.length && inside === null ? without : [...without, rule];
  change({ skip: next, ...(inside === null ? {} : { inside }) });
}

/** The passes of the kernel by name, "simplify#2" for the second of a name: what the compiler counts. */
export const passNames = computed<ReadonlyMap<number, string>>(() => {
  const found = new Map<number, string>();
  const kernel = currentKernel.value;
  if (!kernel) return found;
  const counts = new Map<string, number>();
  for (const row of rows.value.slice(kernel.row + 1)) {
    if (row.kind !== "rewrite" || (compiledRowOf.value[row.row] ?? -1) !== -1) continue;
    if (!ancestry(rows.value, row.row).some((above) => above.row === kernel.row)) continue;
    const n = (counts.get(row.name) ?? 0) + 1;
    counts.set(row.name, n);
    found.set(row.id, `${row.name}#${n}`);
  }
  for (const [id, name] of found) {
    const [, of = name] = /^(.*)#\d+$/s.exec(name) ?? [];
    if (counts.get(of) === 1) found.set(id, of);
  }
  return found;
});

/** The current pass by its name among those of its kernel; "" outside of one. */
export const passHere = computed(() => {
  const row = currentRow.value;
  return row ? (passNames.value.get(row.id) ?? "") : "";
});

/** What is asked for, in words; `edited`: the kind of an edited text. */
export function wordsOf(spec: VariantSpec, edited = ""): string {
  const where = spec.inside ? ` in ${spec.inside}` : "";
  const parts = [
    spec.skip.length > 0 && `without ${spec.skip.join(", ")}${where}`,
    spec.stop_after !== null &&
      `stopped after ${plural(spec.stop_after, "match", "matches")}${where}`,
    spec.opts !== null && (spec.opts.trim() ? `opts ${spec.opts.trim()}` : "no opts"),
    edited && `edited ${kindName(edited)}`,
    spec.target && `for ${spec.target}`,
  ].filter(Boolean);
  return parts.join("; ") || "the code on disk, nothing else changed";
}
