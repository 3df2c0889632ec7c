/** A pattern as a small graph, sources above; parts may be marked, and say when they are pointed at. */
import type { Pat } from "../../data/messages/rule";
import { plural, short } from "../../state/format";
import { badgeWidth, NOTE_CHAR, type PatDrawing, type PatNode } from "./patternLayout";
import { dtypeWords, opWords, sourceWords } from "./patternWords";

/** What became of a part: it fits, it does not, or it was not looked at any more. */
export type PartState = "fits" | "fails" | "unreached";

interface DrawingProps {
  pattern: Pat;
  drawing: PatDrawing;
  /** Of each part, by its path; absent where no part is marked. */
  stateOf?: (path: string) => PartState;
  onPoint: (node: PatNode | null) => void;
}

export function PatternDrawing({ pattern, drawing: d, stateOf, onPoint }: DrawingProps) {
  return (
    <div class="scrollx">
      <svg
        width={d.width}
        height={d.height}
        viewBox={`0 0 ${d.width} ${d.height}`}
        role="img"
        aria-label={patternWords(pattern)}
      >
        {d.edges.map((e, i) => {
          const mid = (e.y2 - e.y1) * 0.6;
          return (
            <path
              key={i}
              class={stateOf?.(e.path)}
              d={`M${e.x1} ${e.y1}C${e.x1} ${e.y1 + mid} ${e.x2} ${e.y2 - mid} ${e.x2} ${e.y2}`}
            />
          );
        })}
        {d.nodes.map((n, i) => (
          <Node key={i} n={n} state={stateOf?.(n.path)} onPoint={onPoint} />
        ))}
      </svg>
      {d.left > 0 && (
        <div class="t3 small">{plural(d.left, "more node")} of the pattern not drawn</div>
      )}
    </div>
  );
}

interface NodeProps {
  n: PatNode;
  state: PartState | undefined;
  onPoint: (node: PatNode | null) => void;
}

function Node({ n, state, onPoint }: NodeProps) {
  const note = n.note.length * NOTE_CHAR;
  const badge = badgeWidth(n.badge);
  const second = note + badge + (note && badge ? 6 : 0);
  const left = n.x - second / 2;
  const kinds = [n.kind, n.name && n.kind === "op" ? "bound" : "", state ?? ""].join(" ");
  return (
    <g class={kinds} onPointerEnter={() => onPoint(n)} onPointerLeave={() => onPoint(null)}>
      <rect
        x={n.x - n.width / 2}
        y={n.y - n.height / 2}
        width={n.width}
        height={n.height}
        rx={n.kind === "op" ? 5 : 11}
      />
      <text x={n.x} y={n.y + (second ? -4 : 4)}>
        {n.kind === "op" && n.name ? (
          <>
            <tspan class="acc-fill">{short(n.name, 24)}</tspan> {n.text}
          </>
        ) : (
          n.text
        )}
      </text>
      {n.note && (
        <text class="note" x={left + note / 2} y={n.y + 12}>
          {n.note}
        </text>
      )}
      {n.badge && (
        <g class="badge-in">
          <rect x={left + second - badge} y={n.y + 2} width={badge} height={14} rx={3} />
          <text class="note" x={left + second - badge / 2} y={n.y + 12}>
            {n.badge}
          </text>
        </g>
      )}
      {(state === "fits" || state === "fails") && <Sign n={n} fits={state === "fits"} />}
    </g>
  );
}

/** A tick, or the sign for "not equal", on the upper right corner. */
function Sign({ n, fits }: { n: PatNode; fits: boolean }) {
  const [x, y] = [n.x + n.width / 2 - 1, n.y - n.height / 2 + 1];
  return (
    <g class="sign">
      <circle cx={x} cy={y} r={6.5} />
      <path
        d={
          fits
            ? `M${x - 3} ${y + 0.3}l2 2.2l4 -4.8`
            : `M${x - 3} ${y - 1.4}h6M${x - 3} ${y + 1.4}h6M${x - 1.8} ${y + 3.6}l3.6 -7.2`
        }
      />
    </g>
  );
}

function patternWords(pat: Pat, depth = 0): string {
  const what = opWords(pat.op) || pat.name || "any node";
  const self = [what, dtypeWords(pat.dtype)].filter(Boolean).join(" of ");
  if (depth > 4 || pat.src.kind === "any") return self;
  const sources = pat.src.kind === "repeat" ? [pat.src.of] : pat.src.of;
  const how = sourceWords(pat);
  const words = sources.map((s) => patternWords(s, depth + 1)).join(" and ");
  return `${self} with ${words}${how ? `, ${how}` : ""}`;
}
