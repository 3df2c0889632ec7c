/**
 * CodeMirror for one source text, read-only until it is edited. It lives in a shadow root, where its style sheet is
 * adopted rather than written into the page: the page's policy allows no inline styles.
 */
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState, RangeSetBuilder, type Extension } from "@codemirror/state";
import {
  Decoration,
  EditorView,
  drawSelection,
  highlightActiveLine,
  gutterLineClass,
  GutterMarker,
  keymap,
  lineNumbers,
  WidgetType,
  type DecorationSet,
  type KeyBinding,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { readToken, startState, type LexState } from "../../ui/code/languages";
import { replaced, undoing } from "./undo";

export interface SourceEditor {
  /** Marks lines (0-based, ascending), and the one that was clicked. */
  mark(lines: readonly number[], clicked: number | null): void;
  /** How far a line is below the upper edge of what is in view, px. */
  topOf(line: number): number;
  /** Scrolls until a line is so far below the upper edge, or as near to that as it can be. */
  bring(line: number, top: number): void;
  /** Scrolls a line into the middle of the view, where it is not in view. */
  reveal(line: number): void;
  /** Scrolls a line to where lines that are level with it stand in editors of the same height. */
  level(line: number): void;
  /** `numbers`: what the gutter says of each line; without it lines count from 1. `signs`: what a
   * comparison says of each line. */
  setText(text: string, language: string, numbers?: readonly string[], signs?: Signs): void;
  /** Whether the user may change the text. */
  setEditing(editing: boolean): void;
  /** Says what is wrong, below a line (0-based); nothing for null. Goes with the next change. */
  fault(line: number | null, what: string): void;
  focus(): void;
  destroy(): void;
}

/** Of each line: in the first of two texts only, in the second only, moved, with other names of
 * registers, or in both. */
export type Signs = readonly ("−" | "+" | "◆" | "≈" | "")[];

interface Hooks {
  onLine(line: number | null): void;
  onPick(line: number): void;
  /** The keyboard came to a line. */
  onRead(line: number, text: string): void;
  /** The user changed the text. */
  onChange(text: string): void;
}

const TOKEN_NAMES = {
  keyword: "keyword",
  number: "number",
  comment: "comment",
  string: "string",
  label: "labelName",
} as const;

const languages = new Map<string, Extension>();

function languageFor(name: string): Extension {
  let made = languages.get(name);
  if (!made) {
    made = StreamLanguage.define<LexState>({
      name,
      startState,
      copyState: (s) => ({ ...s }),
      token(stream, state) {
        const { length, kind } = readToken(name, stream.string, stream.pos, state);
        stream.pos += length;
        return kind && TOKEN_NAMES[kind];
      },
    });
    languages.set(name, made);
  }
  return made;
}

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--syn-k)" },
  { tag: tags.number, color: "var(--syn-n)" },
  { tag: [tags.comment, tags.string], color: "var(--syn-c)" },
  { tag: tags.labelName, fontWeight: "600" },
]);

/** Height of a line, px. */
const LINE = 18;
/** How far the pointer may slip between press and release for it to be a click, px: farther, it selects
 * text. */
const SLIP = 3;

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "11px", color: "var(--text)", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": {
    fontFamily: "var(--mono)",
    lineHeight: `${LINE}px`,
    fontVariantLigatures: "none",
    scrollbarWidth: "thin",
    scrollbarColor: "var(--line2) transparent",
    padding: "4px 0", // not of the content: line numbers would stand without it at first
  },
  ".cm-content": { padding: "0" },
  ".cm-line": { padding: "0 8px 0 2px" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--text3)", border: "0" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "34px", padding: "0 8px 0 6px" },
  // until it has measured its lines, the editor takes them to be lower; the first one only gives the width
  ".cm-lineNumbers .cm-gutterElement:not(:first-child)": { minHeight: `${LINE}px` },
  ".cm-hit": { backgroundColor: "var(--accentbg)" },
  ".cm-hit.cm-gutterElement": {
    color: "var(--accent)",
    fontWeight: "600",
    boxShadow: "inset 2px 0 var(--accent)",
  },
  ".cm-activeLine": { backgroundColor: "var(--surface2)" },
  ".cm-fault": { backgroundColor: "var(--delbg)" },
  ".cm-fault-note": {
    padding: "0 8px 2px 2px",
    fontFamily: "var(--sans)",
    backgroundColor: "var(--delbg)",
    color: "var(--del)",
    fontWeight: "600",
    whiteSpace: "normal",
  },
  ".cm-clicked.cm-gutterElement": { boxShadow: "inset 4px 0 var(--accent)" },
  ".cm-gone": { backgroundColor: "var(--delbg)" },
  ".cm-gone.cm-gutterElement": { color: "var(--del)" },
  ".cm-come": { backgroundColor: "var(--addbg)" },
  ".cm-come.cm-gutterElement": { color: "var(--add)" },
  ".cm-moved.cm-gutterElement": { color: "var(--movt)" },
  "@media (forced-colors: active)": {
    ".cm-line.cm-hit": { borderLeft: "4px solid Highlight" },
  },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent) !important",
  },
  ".cm-cursor": { borderLeftColor: "var(--accent)" },
});

const hitLine = Decoration.line({ class: "cm-hit" });
const hitNumber = new (class extends GutterMarker {
  override elementClass = "cm-hit";
})();

const clickedNumber = new (class extends GutterMarker {
  override elementClass = "cm-hit cm-clicked";
})();

/** How a sign of a comparison looks. */
const SIGNED: Readonly<Partial<Record<Signs[number], string>>> = {
  "−": "cm-gone",
  "+": "cm-come",
  "◆": "cm-moved",
};
const signed = new Map(
  Object.values(SIGNED).map((name) => [
    name,
    {
      line: Decoration.line({ class: name }),
      number: new (class extends GutterMarker {
        override elementClass = name;
      })(),
    },
  ]),
);

/** A gutter that says this of each line; without it lines count from 1. */
const numbered = (numbers: readonly string[] | undefined): Extension =>
  lineNumbers({ formatNumber: (n) => numbers?.[n - 1] ?? (numbers ? "" : String(n)) });

const NO_FAULT: Extension = [];
const faultLine = Decoration.line({ class: "cm-fault" });

class FaultNote extends WidgetType {
  constructor(readonly what: string) {
    super();
  }
  override eq(other: FaultNote): boolean {
    return other.what === this.what;
  }
  toDOM(): HTMLElement {
    const note = document.createElement("div");
    note.className = "cm-fault-note";
    note.textContent = this.what;
    return note;
  }
}

const reading = (label: string): Extension => [
  EditorState.readOnly.of(true),
  EditorView.editable.of(false),
  EditorView.contentAttributes.of({ tabindex: "0", "aria-label": label }),
];

/** To the start and the end of the text: the browser knows the lines that are drawn only. */
const ends: readonly KeyBinding[] = (["Home", "End"] as const).flatMap((key) =>
  [false, true].map((extend) => ({
    key: extend ? `Shift-Mod-${key}` : `Mod-${key}`,
    run(view: EditorView) {
      const { state } = view;
      const head = key === "Home" ? 0 : state.doc.length;
      const anchor = extend ? state.selection.main.anchor : head;
      view.dispatch({ selection: { anchor, head }, scrollIntoView: true });
      return true;
    },
  })),
);

const newLine: KeyBinding = {
  key: "Enter",
  run(view) {
    const { state } = view;
    const indent = /^\s*/.exec(state.doc.lineAt(state.selection.main.from).text)![0];
    view.dispatch(state.replaceSelection(`\n${indent}`), { scrollIntoView: true });
    return true;
  },
};

const writing = (label: string): Extension => [
  EditorView.contentAttributes.of({ "aria-label": `${label}, edited; press Tab to leave` }),
  keymap.of([newLine, ...ends]),
  undoing,
  highlightActiveLine(),
];

export function sourceEditor(host: HTMLElement, label: string, hooks: Hooks): SourceEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const language = new Compartment();
  const marks = new Compartment();
  const mode = new Compartment();
  const faults = new Compartment();
  const compared = new Compartment();
  const gutter = new Compartment();
  let hoveredLine: number | null = null;
  let pressed: readonly [number, number] = [0, 0];
  /** The line that the keyboard is on, while the text has the focus. */
  let readLine: number | null = null;
  const lineAt = (view: EditorView, e: MouseEvent): number | null => {
    const pos = view.posAtCoords({ x: e.clientX, y: e.clientY }, false);
    const block = view.lineBlockAt(pos);
    const y = e.clientY - view.documentTop;
    return y >= block.top && y <= block.bottom ? view.state.doc.lineAt(pos).number - 1 : null;
  };
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      extensions: [
        mode.of(reading(label)),
        faults.of(NO_FAULT),
        gutter.of(numbered(undefined)),
        drawSelection(),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged || update.transactions.some((tr) => tr.annotation(replaced)))
            return;
          if (faults.get(update.state) !== NO_FAULT) fault(null, "");
          hooks.onChange(update.state.doc.toString());
        }),
        syntaxHighlighting(colours),
        look,
        language.of([]),
        marks.of([]),
        compared.of([]),
        EditorView.domEventHandlers({
          mousemove(e, v) {
            const line = lineAt(v, e);
            if (line !== hoveredLine) hooks.onLine((hoveredLine = line));
          },
          mouseleave() {
            if (hoveredLine !== null) hooks.onLine((hoveredLine = null));
          },
          focus() {
            readLine = null;
          },
          blur() {
            if (readLine !== null) hooks.onLine((readLine = null));
          },
          keydown: (e) => onKey(e),
          mousedown(e) {
            pressed = [e.clientX, e.clientY];
          },
          click(e, v) {
            const line = lineAt(v, e);
            const isDrag = Math.hypot(e.clientX - pressed[0], e.clientY - pressed[1]) > SLIP;
            if (v.state.readOnly && line !== null && !isDrag && e.detail < 2) hooks.onPick(line);
          },
        }),
      ],
    }),
  });

  /** Up and Down go from line to line, from the first one in view; Enter picks the line's node. */
  function onKey(e: KeyboardEvent): boolean {
    if (!view.state.readOnly) return false;
    if (e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) return false;
    if (e.key === "Enter" && readLine !== null) hooks.onPick(readLine);
    else {
      const to = lineFor(e.key);
      if (to === null) return false;
      readLine = Math.max(0, Math.min(view.state.doc.lines - 1, to));
      const line = view.state.doc.line(readLine + 1);
      view.dispatch({ effects: EditorView.scrollIntoView(line.from, { yMargin: 32 }) });
      hooks.onLine(readLine);
      hooks.onRead(readLine, line.text);
    }
    e.preventDefault();
    return true;
  }

  function lineFor(key: string): number | null {
    const { scrollTop, clientHeight } = view.scrollDOM;
    const at = (y: number): number =>
      view.state.doc.lineAt(view.lineBlockAtHeight(y).from).number - 1;
    const page = Math.max(1, Math.floor(clientHeight / view.defaultLineHeight) - 1);
    const now = readLine ?? at(scrollTop) - 1;
    const found: Readonly<Partial<Record<string, number>>> = {
      ArrowDown: now + 1,
      ArrowUp: now - 1,
      PageDown: now + page,
      PageUp: now - page,
      Home: 0,
      End: view.state.doc.lines - 1,
    };
    return found[key] ?? null;
  }

  function mark(lines: readonly number[], clicked: number | null): void {
    const deco = new RangeSetBuilder<Decoration>();
    const marked = new RangeSetBuilder<GutterMarker>();
    const { doc } = view.state;
    for (const line of lines.filter((n) => n < doc.lines)) {
      const { from } = doc.line(line + 1);
      deco.add(from, from, hitLine);
      marked.add(from, from, line === clicked ? clickedNumber : hitNumber);
    }
    const set: DecorationSet = deco.finish();
    view.dispatch({
      effects: marks.reconfigure([
        EditorView.decorations.of(set),
        gutterLineClass.of(marked.finish()),
      ]),
    });
  }

  /** What a comparison says of the lines. */
  function comparison(signs: Signs): Extension {
    const deco = new RangeSetBuilder<Decoration>();
    const marked = new RangeSetBuilder<GutterMarker>();
    const { doc } = view.state;
    signs.slice(0, doc.lines).forEach((sign, line) => {
      const as = signed.get(SIGNED[sign] ?? "");
      if (!as) return;
      const { from } = doc.line(line + 1);
      deco.add(from, from, as.line);
      marked.add(from, from, as.number);
    });
    return [EditorView.decorations.of(deco.finish()), gutterLineClass.of(marked.finish())];
  }

  const blockOf = (line: number): { top: number; bottom: number } =>
    view.lineBlockAt(view.state.doc.line(Math.min(line + 1, view.state.doc.lines)).from);

  const topOf = (line: number): number =>
    view.documentTop + blockOf(line).top - view.scrollDOM.getBoundingClientRect().top;

  function bring(line: number, top: number): void {
    view.scrollDOM.scrollTop += topOf(line) - top;
    // Heights of lines that had not been drawn are estimates until then.
    view.requestMeasure({
      read: () => topOf(line) - top,
      write(off) {
        if (Math.abs(off) >= 1) view.scrollDOM.scrollTop += off;
      },
    });
  }

  function reveal(line: number): void {
    if (!lineInView(line)) level(line);
  }

  function level(line: number): void {
    bring(line, Math.max(0, (view.scrollDOM.clientHeight - LINE) / 2));
  }

  function lineInView(line: number): boolean {
    const top = topOf(line);
    return top >= 0 && top + LINE <= view.scrollDOM.clientHeight;
  }

  function fault(line: number | null, what: string): void {
    const { doc } = view.state;
    if (line === null || line >= doc.lines) {
      view.dispatch({ effects: faults.reconfigure(NO_FAULT) });
      return;
    }
    const { from, to } = doc.line(line + 1);
    const set = Decoration.set([
      faultLine.range(from),
      Decoration.widget({ widget: new FaultNote(what), block: true, side: 1 }).range(to),
    ]);
    view.dispatch({
      effects: [
        faults.reconfigure(EditorView.decorations.of(set)),
        EditorView.scrollIntoView(from, { y: "center" }),
      ],
    });
  }

  return {
    mark,
    topOf,
    bring,
    reveal,
    level,
    fault,
    setEditing(editing) {
      view.dispatch({ effects: mode.reconfigure(editing ? writing(label) : reading(label)) });
    },
    focus: () => view.focus(),
    setText(text, name, numbers, signs = []) {
      const isOther = text !== view.state.doc.toString();
      if (isOther)
        view.dispatch({
          changes: { from: 0, to: view.state.doc.length, insert: text },
          effects: [
            language.reconfigure(languageFor(name)),
            marks.reconfigure([]),
            faults.reconfigure(NO_FAULT),
          ],
          selection: { anchor: 0 },
          annotations: replaced.of(true),
        });
      view.dispatch({
        effects: [compared.reconfigure(comparison(signs)), gutter.reconfigure(numbered(numbers))],
      });
      if (isOther) view.scrollDOM.scrollTop = 0;
    },
    destroy: () => view.destroy(),
  };
}
