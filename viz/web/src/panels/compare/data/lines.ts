/** Which lines of the two texts belong to which nodes of the joint graph, both ways. */
import { computed, signal } from "@preact/signals";
import type { Artifact, Kernel, Origins } from "../../../data/messages/kernel";
import { lineIndex, linesOf, originMap, slotsOfLine } from "../../../parts/kernel/lines";
import { Watched } from "../../../state/watched";
import { compareLink } from "../link";
import { runData } from "./ask";
import { isOpen, isTextSeen, keyOfSource, runsKey, scope, source } from "./store";
import { passes, sides } from "./walk";

type Side = "a" | "b";

/** At most so many nodes are lit. */
const MOST_LIT = 400;

/** The line under the pointer or the focus, 1-based. */
export const pointedLine = signal<{ side: Side; line: number } | null>(null);

interface Known {
  kernel: Kernel;
  origins: Origins;
}

function watched(side: Side): Watched<Known> {
  const context = computed(() => {
    const s = scope.value;
    return (s?.kind === "kernel" ? s[side] : null) ?? 0;
  });
  const isWanted = (): boolean => pointedLine.value !== null || compareLink.value.slot !== null;
  return new Watched<Known>(
    "api/kernels",
    () => isOpen() && isTextSeen() && source.value !== null && context.value > 0 && isWanted(),
    async (abort) => {
      const of = context.peek();
      const [kernel, origins] = await Promise.all([
        runData(side).kernel(of, abort),
        runData(side).origins(of, abort),
      ]);
      return { kernel, origins };
    },
    undefined,
    () => `${runsKey.value} ${context.value}`,
  );
}

const asked = { a: watched("a"), b: watched("b") };

export function startLines(): void {
  asked.a.start();
  asked.b.start();
}

function textOf(side: Side): { artifact: Artifact; origins: ReturnType<typeof originMap> } | null {
  const known = asked[side].answer.value;
  const shown = source.value;
  const artifact =
    shown &&
    known?.kernel.artifacts.find((a) => keyOfSource({ ...shown, ...a }) === keyOfSource(shown));
  return known && artifact ? { artifact, origins: originMap(known.origins) } : null;
}

const texts = { a: computed(() => textOf("a")), b: computed(() => textOf("b")) };

/** The slots of the joint graph that the pointed line stands for. */
export const litSlots = computed<readonly number[]>(() => {
  const at = pointedLine.value;
  const now = passes.value;
  const graphs = sides.value;
  if (!at || !now || !graphs) return [];
  const text = texts[at.side].value;
  if (!text) return [];
  // Node ids are those of a run: only the contents that are this side's own can have them.
  const graph = at.side === "a" ? graphs.before : graphs.after;
  const found = slotsOfLine(now.both.bundle, graph, text.origins, text.artifact, at.line - 1);
  return found.slice(0, MOST_LIT);
});

/** Lines (1-based) of a side that the selected node stands behind. */
function linesAt(side: Side): ReadonlySet<number> {
  const { slot } = compareLink.value;
  const now = passes.value;
  const graphs = sides.value;
  const text = texts[side].value;
  if (slot === null || !now || !graphs || !text) return new Set();
  const c = (side === "a" ? graphs.before : graphs.after).nodeOf(slot);
  const id = now.both.bundle.nodes.id[c];
  if (id === undefined) return new Set();
  const { lines } = linesOf(lineIndex(text.artifact), text.origins, id);
  return new Set(lines.map((line) => line + 1));
}

export const markedLines = { a: computed(() => linesAt("a")), b: computed(() => linesAt("b")) };
