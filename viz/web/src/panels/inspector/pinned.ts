/** Subjects that the reader pinned: what the inspector said of a node, frozen. */
import { signal } from "@preact/signals";
import { announce } from "../../state/actions";
import { count } from "../../state/format";
import { bundle, currentRow, currentStep, rules, sides, step, view } from "../../state/state";
import { argOf, deviceOf, dtypeOf, opOf, rangesOf, shapeOf, titleOf, uidOf } from "../../model/content";

export interface Pin {
  key: string;
  title: string;
  /** Pass and step at which it was pinned. */
  where: string;
  facts: [string, string][];
  rewrite: number;
  step: number;
  uid: number | null;
}

const MOST_PINS = 3;
export const pins = signal<readonly Pin[]>([]);

/** Pins the selected node, or else the rule of the step; takes the pin away if it is there. */
export function togglePin(): void {
  const made = subject();
  if (!made) return;
  const kept = pins.peek().filter((p) => p.key !== made.key);
  if (kept.length < pins.peek().length) {
    pins.value = kept;
    announce(`${made.title} unpinned`);
  } else if (kept.length >= MOST_PINS) announce(`At most ${MOST_PINS} pins: remove one first`);
  else {
    pins.value = [...kept, made];
    announce(`${made.title} pinned`);
  }
}

export function unpin(key: string): void {
  pins.value = pins.peek().filter((p) => p.key !== key);
}

function subject(): Pin | null {
  const b = bundle.peek();
  if (!b) return null;
  const at = { rewrite: b.rewrite, step: step.peek() };
  const where = `${currentRow.peek()?.name ?? b.name}, step ${count(at.step)}`;
  const { slot } = view.peek();
  const both = sides.peek();
  const now = slot === null || !both ? -1 : both.after.nodeOf(slot);
  const c = now >= 0 || slot === null || !both ? now : both.before.nodeOf(slot);
  if (slot !== null && both && c >= 0) {
    const side = now >= 0 ? both.after : both.before;
    const name = (s: number): string => {
      const n = side.nodeOf(s);
      return n >= 0 ? `${uidOf(b, n)} ${titleOf(b, n)}` : "?";
    };
    const lo = b.nodes.lo[c] ?? "";
    const hi = b.nodes.hi[c] ?? "";
    const facts: [string, string][] = [
      ["Dtype", dtypeOf(b, c)],
      ["Arg", argOf(b, c)],
      ["Shape", shapeOf(b, c)],
      ["Device", deviceOf(b, c)],
      ["Bounds", lo || hi ? (lo === hi ? lo : `${lo} .. ${hi}`) : ""],
      ["Ranges", rangesOf(b, c)],
      ["Sources", side.srcOf(slot).map(name).join(", ")],
      ["Users", side.usersOf(slot, 8).map(name).join(", ")],
    ];
    const uid = b.nodes.id[c] ?? null;
    const key = `${at.rewrite}.${at.step}.${uid}`;
    const title = `${uidOf(b, c)} ${opOf(b, c)}`;
    return { ...at, key, title, where, facts: facts.filter(([, text]) => text), uid };
  }
  const did = currentStep.peek();
  const rule = did && rules.peek().get(did.rule);
  if (!did || !rule) return null;
  const facts: [string, string][] = [
    ["Equation", rule.equation],
    ["Replaced", `${uidOf(b, did.before)} ${titleOf(b, did.before)}`],
    ["By", `${uidOf(b, did.after)} ${titleOf(b, did.after)}`],
    ...did.binds.map(([name, n]): [string, string] => [name, `${uidOf(b, n)} ${titleOf(b, n)}`]),
  ];
  const key = `${at.rewrite}.${at.step}.rule`;
  return { ...at, key, title: rule.name, where, facts, uid: null };
}
