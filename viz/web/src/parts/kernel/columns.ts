/**
 * Which sources stand side by side. A column is a kind of text for a target: "ptx:sm_90". What kinds
 * there are, the run says.
 */
import { run, usualTargets } from "../../state/state";
import type { Artifact, ArtifactKind } from "../../data/messages/kernel";
import type { Kind } from "../../data/messages/run";
import { PYTHON } from "./userText";

const FIRST_COLUMNS = 4;
const kinds = (): readonly Kind[] => run.value?.kinds ?? [];

export const columnKey = (a: { kind: string; target: string }): string => `${a.kind}:${a.target}`;
export const targetOf = (key: string): string => key.slice(key.indexOf(":") + 1);
export const kindOf = (key: string): ArtifactKind => key.slice(0, key.indexOf(":"));

export function kindName(kind: string): string {
  // A compiler of another language has no Python to name: mycc compiles a.c.
  if (kind === PYTHON) return run.value && !run.value.python ? "Program" : "Python";
  return kinds().find((known) => known.kind === kind)?.title ?? kind;
}

/** What compiling for a target gives, as far as the page can tell before asking. */
export function kindsOfTarget(target: string): ArtifactKind[] {
  const family = run.value?.families[target] ?? "";
  return kinds()
    .filter((known) => known.families.includes(family))
    .map((known) => known.kind);
}

/**
 * All columns that can be shown: those at hand first, then what targets would give. A run records
 * one text of a kernel, so its target may give more; those in `complete` have given all they have.
 */
export function possibleColumns(
  artifacts: readonly Artifact[],
  targets: readonly string[],
  complete: ReadonlySet<string> = new Set(),
): string[] {
  const keys = artifacts.map(columnKey);
  for (const target of targets)
    if (!complete.has(target))
      for (const kind of kindsOfTarget(target)) keys.push(`${kind}:${target}`);
  return [...new Set(keys)];
}

/**
 * The columns to show: those that the reader `wished` for, or else a choice. Where nothing can be
 * compiled, in an exported file and for another compiler's trace, only what is at hand.
 */
export function columnsToShow(
  wished: readonly string[] | null,
  artifacts: readonly Artifact[],
  targets: readonly string[],
): readonly string[] {
  if (!wished || targets.length) return wished ?? chooseColumns(artifacts, targets);
  const have = new Set(artifacts.map(columnKey));
  const here = wished.filter((key) => have.has(key));
  return here.length || !wished.length ? here : chooseColumns(artifacts, targets);
}

/**
 * The columns of a page where none were chosen. What another compiler calls its texts comes first; then
 * of each main kind its best target, recorded before compilable, NVIDIA and AMD next to each other.
 */
export function chooseColumns(
  artifacts: readonly Artifact[],
  targets: readonly string[],
  most = FIRST_COLUMNS,
): string[] {
  const possible = possibleColumns(artifacts, targets);
  const recorded = new Set(artifacts.map(columnKey));
  const used = new Set(artifacts.map((a) => a.target));
  const chosen: string[] = [];
  const known: readonly string[] = kinds().map((one) => one.kind);
  const own = [...new Set(artifacts.map((a) => a.kind))].filter((kind) => !known.includes(kind));
  for (const kind of [...own, ...known]) {
    const ofKind = possible.filter((key) => kindOf(key) === kind);
    const pick = ofKind.find((key) => recorded.has(key)) ?? preferred(ofKind, used);
    if (pick && chosen.length < most) chosen.push(pick);
  }
  return chosen;
}

/** Of several targets the run's own, else the one that people mean. */
function preferred(keys: readonly string[], used: ReadonlySet<string>): string | undefined {
  return (
    keys.find((key) => used.has(targetOf(key))) ??
    keys.find((key) => usualTargets().includes(targetOf(key))) ??
    keys[0]
  );
}

/** Of each target that is shown first, the text that people read first: "ptx:sm_90". */
export const usualColumns = (): string[] =>
  usualTargets().flatMap((target) => {
    const family = run.value?.families[target] ?? "";
    const first = kinds().find((kind) => kind.families.includes(family));
    return first ? [columnKey({ kind: first.kind, target })] : [];
  });

/** "PTX and AMD ISA". */
export const usualTexts = (): string =>
  usualColumns()
    .map((key) => kindName(kindOf(key)))
    .join(" and ");
