/** The parts of a pattern that is held against a node: what became of each, and which node it met. Pure. */
import type { Pat, PatternFit } from "../../../../data/messages/rule";
import { below, chosenOf, type Choose, sourcesOf } from "../../../../parts/rule/patternLayout";
import type { PartState } from "../../../../parts/rule/PatternDrawing";

/** What is known of nodes: their op ("" for none that is here), and their sources. */
export interface Nodes {
  opOf(node: number): string;
  /** Its op, and its argument where that is short. */
  titleOf(node: number): string;
  sourcesOf(node: number): readonly number[];
}

export interface Part {
  path: string;
  pat: Pat;
  state: PartState;
  /** By its number in the run; null: it is not known, or was not reached. */
  node: number | null;
}

/** A hostile pattern has no end. */
const MOST = 60;

/** Chooses the alternative that wants the op of the node there. */
export function chooser(fit: PatternFit, root: number, nodes: Nodes): Choose {
  const met = nodesOf(fit, root);
  return (path, alternatives) => {
    const node = met.get(path);
    const op = node === undefined ? "" : nodes.opOf(node);
    return (
      (op && alternatives.find((p) => p.anyOf?.length || !p.op.length || p.op.includes(op))) || null
    );
  };
}

/** All parts, the whole pattern first. */
export function partsOf(pattern: Pat, fit: PatternFit, root: number, nodes: Nodes): Part[] {
  const met = nodesOf(fit, root);
  const fitted = new Set(fit.fitted.map((part) => part.path.join(".")));
  const fails = fit.misfit?.path.join(".");
  const bound = new Map(fit.binds.map((b) => [b.name, b.node || null]));
  const choose = chooser(fit, root, nodes);
  const found: Part[] = [];
  const walk = (whole: Pat, path: string, all: readonly string[], guess: number | null): void => {
    if (found.length >= MOST) return;
    const pat = chosenOf(whole, path, choose);
    const state: PartState =
      fails !== undefined && all.includes(fails)
        ? "fails"
        : fit.fits || all.some((one) => fitted.has(one))
          ? "fits"
          : "unreached";
    const named = pat.name === null ? undefined : bound.get(pat.name);
    const said = state === "fails" ? fit.misfit!.node : met.get(all.find((one) => met.has(one)) ?? "-");
    const node = state === "unreached" ? null : (said ?? named ?? guess) || null;
    found.push({ path, pat, state, node });
    const sources = node !== null && pat.src.kind === "ordered" ? nodes.sourcesOf(node) : [];
    const repeated = pat.src.kind === "repeat" && node !== null ? nodes.sourcesOf(node).length : 1;
    sourcesOf(pat).forEach((source, i) => {
      // each source of a pattern that repeats is a child of its own, and the same part
      const paths = all.flatMap((one) =>
        Array.from({ length: Math.max(1, repeated) }, (_, n) => below(one, i + n)),
      );
      walk(source, below(path, i), paths, fit.fits ? (sources[i] ?? null) : null);
    });
  };
  walk(pattern, "", [""], root);
  return found;
}

/** The nodes that were met, by path. */
function nodesOf(fit: PatternFit, root: number): Map<string, number> {
  const met = new Map<string, number>([["", root]]);
  for (const { path, node } of fit.fitted) if (node) met.set(path.join("."), node);
  if (fit.misfit?.node) met.set(fit.misfit.path.join("."), fit.misfit.node);
  return met;
}

/** "the whole pattern", "source 0", "source 1 of source 0". */
export function pathWords(path: readonly number[]): string {
  if (!path.length) return "the node itself";
  return [...path]
    .reverse()
    .map((child) => `source ${child}`)
    .join(" of ");
}
