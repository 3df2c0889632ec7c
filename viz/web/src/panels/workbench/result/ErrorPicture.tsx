/** The error over an output, cell by cell; a click or the arrow keys choose one. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { BenchPicture, Numeric } from "../../../data/messages/trials/workbench";
import { plural } from "../../../state/format";
import { dark } from "../../../state/theme";
import { prepare } from "../../../ui/canvas";
import { nearest } from "./nearest";
import { value } from "./words";

const SIZE = 128;
/** How dark the smallest difference is. */
const LEAST = 0.35;

interface Props {
  picture: BenchPicture;
  cell: number | null;
  pick: (cell: number | null) => void;
}

export function ErrorPicture({ picture: p, cell, pick }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const order = useMemo(() => [...p.cell].sort((a, b) => a - b), [p]);
  const isDark = dark.value;
  // Cells are as wide as high, unless one side would vanish.
  const [w, h] = [SIZE / p.width, SIZE / p.height];
  useEffect(() => {
    const g = canvas.current && prepare(canvas.current, SIZE, SIZE);
    if (!g) return;
    const style = getComputedStyle(canvas.current!);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    g.fillStyle = colour("--surface2");
    g.fillRect(0, 0, SIZE, SIZE);
    const levels = levelsOf(p.error);
    g.fillStyle = colour("--accent");
    p.cell.forEach((at, i) => {
      g.globalAlpha = LEAST + (1 - LEAST) * levels[i]!;
      const [x, y] = [(at % p.width) * w, Math.floor(at / p.width) * h];
      g.fillRect(x, y, Math.max(1, w), Math.max(1, h));
    });
    g.globalAlpha = 1;
    const marked = cell ?? p.cell[0];
    if (marked === undefined) return;
    g.strokeStyle = colour("--text");
    g.lineWidth = 1.5;
    const [x, y] = [(marked % p.width) * w, Math.floor(marked / p.width) * h];
    g.strokeRect(x - 2, y - 2, Math.max(1, w) + 4, Math.max(1, h) + 4);
  }, [p, cell, isDark]);

  const onClick = (e: MouseEvent): void => {
    const box = canvas.current!.getBoundingClientRect();
    const x = ((e.clientX - box.left) / box.width) * p.width;
    const y = ((e.clientY - box.top) / box.height) * p.height;
    pick(nearest(order, p, x - 0.5, y - 0.5));
  };
  const onKeyDown = (e: KeyboardEvent): void => {
    const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    if (way === undefined || !order.length) return;
    e.preventDefault();
    e.stopPropagation();
    const at = order.indexOf(cell ?? p.cell[0]!);
    pick(order[(at + way + order.length) % order.length]!);
  };
  const at = p.cell.indexOf(cell ?? p.cell[0] ?? -1);
  return (
    <canvas
      ref={canvas}
      class="wb-picture"
      width={SIZE}
      height={SIZE}
      role="slider"
      tabIndex={0}
      aria-label="Difference of each output element"
      aria-valuemin={0}
      aria-valuemax={order.length}
      aria-valuenow={at < 0 ? 0 : order.indexOf(p.cell[at]!) + 1}
      aria-valuetext={
        at < 0
          ? "no element differs"
          : `${plural(order.length, "cell")} differ; original ${value(p.original[at]!)}, edited ${value(p.edited[at]!)}`
      }
      title={order.length ? "Click a cell to see its element" : "No element differs"}
      onClick={onClick}
      onKeyDown={onKeyDown}
    />
  );
}

/** From 0 to 1 on a logarithmic scale. */
function levelsOf(errors: readonly Numeric[]): number[] {
  const logs = errors.map((n) => (typeof n === "number" && n > 0 ? Math.log10(n) : Infinity));
  const finite = logs.filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  return logs.map((n) => (!Number.isFinite(n) ? 1 : high > low ? (n - low) / (high - low) : 1));
}
