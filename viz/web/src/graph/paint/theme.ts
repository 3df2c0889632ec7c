/**
 * Colours and fonts of the graph, read from the page's CSS custom properties.
 *
 * The style sheet is the only place that knows a colour. Read again when the theme changes.
 */
import { OP_GROUPS, type OpGroup } from "../../model/ops";

export interface Theme {
  canvas: string;
  surface: string;
  surface2: string;
  text: string;
  text2: string;
  text3: string;
  line: string;
  line2: string;
  edge: string;
  accent: string;
  accentbg: string;
  onAccent: string;
  del: string;
  delbg: string;
  add: string;
  addbg: string;
  mov: string;
  op: Record<OpGroup, string>;
  /** Colour of a range letter by its first character. */
  range: Record<string, string>;
  sans: string;
  mono: string;
}

const PROPERTY: Record<OpGroup, string> = {
  memory: "--o-mem",
  range: "--o-range",
  arithmetic: "--o-alu",
  const: "--o-const",
  reduce: "--o-red",
  movement: "--o-view",
  control: "--o-ctl",
  device: "--o-dev",
  other: "--o-other",
};

/** Reads the theme that applies to `host`. In forced colours the system's own names stand in. */
export function readTheme(host: Element): Theme {
  const style = getComputedStyle(host);
  const forced = matchMedia("(forced-colors: active)").matches;
  const get = (name: string, system: string): string =>
    forced ? system : style.getPropertyValue(name).trim() || system;
  const op = {} as Record<OpGroup, string>;
  for (const group of OP_GROUPS) op[group] = get(PROPERTY[group], "CanvasText");
  return {
    canvas: get("--canvas", "Canvas"),
    surface: get("--surface", "Canvas"),
    surface2: get("--surface2", "Canvas"),
    text: get("--text", "CanvasText"),
    text2: get("--text2", "CanvasText"),
    text3: get("--text3", "CanvasText"),
    line: get("--line", "CanvasText"),
    line2: get("--line2", "CanvasText"),
    edge: get("--edge", "CanvasText"),
    accent: get("--accent", "Highlight"),
    accentbg: get("--accentbg", "Canvas"),
    onAccent: get("--on-accent", "HighlightText"),
    del: get("--del", "LinkText"),
    delbg: get("--delbg", "Canvas"),
    add: get("--add", "CanvasText"),
    addbg: get("--addbg", "Canvas"),
    mov: get("--mov", "Highlight"),
    op,
    // Letters of the kinds of loops, as the inspector colours them; any other reads as a hint.
    range: {
      L: get("--text2", "CanvasText"),
      R: op.reduce,
      g: op.memory,
      l: op.range,
      w: op.range,
      t: op.memory,
      G: op.reduce,
      u: op.movement,
      U: op.movement,
      r: op.reduce,
    },
    sans: style.getPropertyValue("--sans").trim() || "system-ui, sans-serif",
    mono: style.getPropertyValue("--mono").trim() || "ui-monospace, monospace",
  };
}
