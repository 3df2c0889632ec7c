/**
 * The words on a node's box, worked out once per content node.
 *
 * Knows the width of a box in characters (the font is monospaced); what does not fit ends in an
 * ellipsis and is whole in the inspector.
 */
import type { Bundle } from "../../data/messages/bundle";
import type { Box, Fold } from "../../model/fold/fold";
import { copiesIn, cutMiddle, expressionOf, opsOf } from "../../model/fold/words";
import type { Replay } from "../../model/replay";
import { argOf, deviceOf, dtypeOf, opOf, rangesOf, shapeOf } from "../../model/content";
import { groupAt, type OpGroup, shortOp } from "../../model/ops";

/** Characters of 12 px and of 11 px mono that fit beside the glyph of a box. */
const TITLE = 14;
/** Of a box at the middle level. */
const SHORT = 7;
const LINE = 15;
/** Width of the second line, of one of its characters and of one of its axis letters, px. */
const ROOM = 102;
const CHAR = 6.62;
const LETTER = 6.35;

export interface Label {
  group: OpGroup;
  op: string;
  short: string;
  /** Right of the op; "" where there is no room. */
  arg: string;
  /** Second line, left. */
  detail: string;
  /** Second line, right: axis letters. */
  ranges: readonly string[];
  /** The words are of a box of several nodes. */
  folded: boolean;
}

export class Labels {
  private readonly known: (Label | undefined)[] = [];

  /** Whether nodes are on different devices: then each says where it is. */
  private readonly apart: boolean;

  constructor(private readonly bundle: Bundle) {
    this.apart = (bundle.devices?.length ?? 0) > 1;
  }

  of(content: number): Label {
    return (this.known[content] ??= this.make(content));
  }

  /** Of the nodes that one state holds in the box. */
  ofBox(box: Box, fold: Fold, replay: Replay): Label {
    const there = box.members.filter((s) => replay.has(s));
    const end = replay.has(box.head) ? box.head : there[0]!;
    const op = opOf(this.bundle, replay.nodeOf(end));
    const label = { group: groupAt(this.bundle, replay.nodeOf(end)), ranges: [], folded: true };
    const count = there.length.toLocaleString("en");
    const beside = (title: string): string =>
      title.length + count.length + 7 <= TITLE ? `${count} nodes` : count;
    if (box.kind === "index") {
      const title = cut(shortOp(this.bundle, op), TITLE - count.length - 1);
      const text = expressionOf(replay, end).replaceAll(" ", "");
      const detail = cutMiddle(text, LINE);
      return { ...label, op: title, short: text, arg: beside(title), detail };
    }
    const title = `\u00d7${copiesIn(replay, fold, box).toLocaleString("en")}`;
    const detail = cut(opsOf(replay, box.members).map((name) => shortOp(this.bundle, name)).join(", "), LINE);
    const both = `${title} ${shortOp(this.bundle, op)}`;
    const short = both.length <= SHORT ? both : title; // a cut count says nothing
    return { ...label, op: title, short, arg: beside(title), detail };
  }

  private make(c: number): Label {
    const { bundle } = this;
    const op = opOf(bundle, c);
    const group = groupAt(bundle, c);
    const arg = argOf(bundle, c);
    const dtype = dtypeOf(bundle, c);
    const shape = shapeOf(bundle, c);
    const scalar = shape === "" || shape === "()";
    const ranges = rangesOf(bundle, c).split(" ").filter(Boolean);
    if (group === "range")
      return { group, op: cut(op, TITLE), short: shortOp(this.bundle, op), arg: "", detail: cut(arg || dtype, LINE), ranges: [], folded: false };
    const room = TITLE - 1 - op.length;
    const titleArg = arg.length <= room ? arg : room >= 5 ? cut(arg, room) : "";
    // An argument that found no room beside the op goes before the dtype.
    const spilled = arg && !titleArg ? `${arg} ${dtype}` : dtype === "void" ? "" : dtype;
    const kind = scalar ? spilled : `${spilled} ${shape}`;
    const detail = this.apart ? `${placeOf(deviceOf(bundle, c))} ${kind}`.trim() : kind;
    // The dtype keeps seven characters ("float32") before letters have to go.
    const taken = (words: readonly string[]): number =>
      words.length ? words.join(" ").length * LETTER + 4 : 0;
    let letters = ranges;
    while (letters.length && ROOM - taken(letters) < Math.min(detail.length, 7) * CHAR)
      letters = letters.slice(0, -1);
    if (letters.length < ranges.length) letters = [...letters.slice(0, -1), "\u2026"];
    return {
      group,
      op: cut(op, TITLE),
      short: shortOp(this.bundle, op),
      arg: titleArg,
      detail: cut(detail.trim(), Math.floor((ROOM - taken(letters)) / CHAR)),
      ranges: letters,
      folded: false,
    };
  }
}

/** "CPU:1"; of several devices how many they are, as in "2 devices". */
function placeOf(device: string): string {
  const [names = ""] = device.split(", cut along axis ", 1);
  const several = names.split(" and ");
  return several.length > 1 ? `${several.length} devices` : names;
}

/** At most `room` characters, the last an ellipsis if some were left out. */
export function cut(text: string, room: number): string {
  if (text.length <= room) return text;
  return room <= 1 ? "" : `${text.slice(0, room - 1)}\u2026`;
}
