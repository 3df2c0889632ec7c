/**
 * Light colouring of the sources that kernels are shown in: comments, numbers, words that steer.
 * One small table per language; used by CodeMirror and by the static snippets. Never a parser.
 */

export type TokenKind = "keyword" | "number" | "comment" | "string" | "label" | null;

interface Language {
  lineComment: readonly string[];
  block?: readonly [string, string];
  words: RegExp;
  /** The first word of a line is an instruction. */
  mnemonics: boolean;
}

const C_WORDS =
  /^(?:extern|__global__|__device__|__shared__|__restrict__|__launch_bounds__|__attribute__|static|inline|const|volatile|struct|typedef|if|else|for|while|do|return|break|continue|void|bool|char|short|int|long|float|double|half|unsigned|signed|size_t|u?int\d+_t|float\d+|half\d+|int\d+)$/;

const LANGUAGES: Record<string, Language> = {
  ptx: {
    lineComment: ["//"],
    block: ["/*", "*/"],
    words: /^(?:\.[a-z]\w*|[a-z][a-z0-9]*(?:\.[\w:]+)+|ret|exit|bra|call)$/,
    mnemonics: false,
  },
  sass: { lineComment: ["//"], words: /^[A-Z][A-Z0-9]+(?:\.[\w.]+)?$/, mnemonics: false },
  amd: {
    lineComment: [";", "//"],
    words: /^(?:[sv]_\w+|global_\w+|flat_\w+|buffer_\w+|ds_\w+|scratch_\w+|\.[a-z]\w*)$/,
    mnemonics: false,
  },
  asm: { lineComment: ["#", ";"], words: /^\.[a-z]\w*$/, mnemonics: true },
  llvm: {
    lineComment: [";"],
    words:
      /^(?:define|declare|call|tail|phi|add|sub|mul|[us]div|[us]rem|shl|[la]shr|and|or|xor|load|store|br|label|icmp|fcmp|fadd|fsub|fmul|fdiv|fneg|select|getelementptr|inbounds|nuw|nsw|fast|contract|ret|void|alloca|bitcast|addrspacecast|[sz]ext|trunc|fptrunc|fpext|[us]itofp|fpto[us]i|extractelement|insertelement|shufflevector|atomicrmw|fence|unreachable|switch|target|attributes|source_filename|ptr|half|float|double|bfloat|i\d+|to|align|eq|ne|[us][lg][te]|o(?:eq|ne|lt|le|gt|ge)|u(?:eq|ne))$/,
    mnemonics: false,
  },
  mlir: {
    lineComment: ["//"],
    words: /^(?:[a-z]\w*(?:\.\w+)+|module|func|return|loc|block)$/,
    mnemonics: false,
  },
  hlo: {
    lineComment: ["//"],
    words: /^(?:HloModule|ENTRY|ROOT|FileNames|FunctionNames|FileLocations|StackFrames|metadata)$/,
    mnemonics: false,
  },
  wgsl: {
    lineComment: ["//"],
    block: ["/*", "*/"],
    words:
      /^(?:fn|let|var|const|return|if|else|for|struct|array|atomic|bitcast|select|enable|vec[234]|f32|f16|i32|u32|bool|true|false|@\w+)$/,
    mnemonics: false,
  },
  c: { lineComment: ["//"], block: ["/*", "*/"], words: C_WORDS, mnemonics: false },
  python: {
    lineComment: ["#"],
    words:
      /^(?:def|return|if|elif|else|for|while|in|not|and|or|is|None|True|False|lambda|class|with|as|import|from|raise|try|except|finally|yield|pass|break|continue|assert|@\w[\w.]*)$/,
    mnemonics: false,
  },
};

/** The language of an artifact kind or a declared language name; C for what is unknown. */
export function languageOf(kind: string): string {
  const known: Record<string, string> = {
    ptx: "ptx",
    sass: "sass",
    amd_isa: "amd",
    llvm: "llvm",
    cpu_asm: "asm",
    python: "python",
    mlir: "mlir",
    hlo: "hlo",
    wgsl: "wgsl",
    jaxpr: "python",
  };
  return known[kind] ?? "c";
}

/** What reading has to remember from one line to the next. */
export interface LexState {
  inBlock: boolean;
  /** Python's open triple quote, or "". */
  quote: string;
  sawWord: boolean;
}

export const startState = (): LexState => ({ inBlock: false, quote: "", sawWord: false });

const NUMBER =
  /^(?:0[xX][0-9a-fA-F]+|0[fdFD][0-9a-fA-F]{8,16}|-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?[fFuUlL]*)/;
const WORD = /^(?:[@.]?[A-Za-z_$][\w.$:]*|[%][\w.$]+|@)/;
const STRING = /^(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)/;

/** Reads one token of `line` at `at`: its length (at least 1) and kind. Changes `state`. */
export function readToken(
  name: string,
  line: string,
  at: number,
  state: LexState,
): { length: number; kind: TokenKind } {
  const lang = LANGUAGES[name] ?? LANGUAGES.c!;
  if (at === 0) state.sawWord = false;
  const rest = line.slice(at);
  if (state.inBlock && lang.block) return closeAt(rest, lang.block[1], state, "inBlock");
  if (state.quote) return closeAt(rest, state.quote, state, "quote");
  const space = /^\s+/.exec(rest);
  if (space) return { length: space[0].length, kind: null };
  if (lang.block && rest.startsWith(lang.block[0])) {
    state.inBlock = true;
    return closeAt(rest, lang.block[1], state, "inBlock", lang.block[0].length);
  }
  if (lang.lineComment.some((mark) => rest.startsWith(mark)))
    return { length: rest.length, kind: "comment" };
  const triple = name === "python" ? /^(?:"""|''')/.exec(rest) : null;
  if (triple) {
    state.quote = triple[0];
    return closeAt(rest, triple[0], state, "quote", 3);
  }
  const text = STRING.exec(rest);
  if (text) return { length: text[0].length, kind: "string" };
  const number = NUMBER.exec(rest);
  if (number) return { length: number[0].length, kind: "number" };
  const word = WORD.exec(rest);
  if (!word) return { length: 1, kind: null };
  const first = !state.sawWord;
  state.sawWord = true;
  const end = rest[word[0].length];
  if (first && end === ":") return { length: word[0].length, kind: "label" };
  const steers = lang.words.test(word[0]) || (lang.mnemonics && first && /^[a-z]/.test(word[0]));
  return { length: word[0].length, kind: steers ? "keyword" : null };
}

function closeAt(
  rest: string,
  mark: string,
  state: LexState,
  which: "inBlock" | "quote",
  skip = 0,
): { length: number; kind: TokenKind } {
  const end = rest.indexOf(mark, skip);
  if (end >= 0) {
    if (which === "inBlock") state.inBlock = false;
    else state.quote = "";
  }
  return { length: Math.max(1, end < 0 ? rest.length : end + mark.length), kind: "comment" };
}

/** A whole line as coloured pieces, neighbours of one kind joined. */
export function pieces(
  name: string,
  line: string,
  state: LexState,
): { text: string; kind: TokenKind }[] {
  const out: { text: string; kind: TokenKind }[] = [];
  for (let at = 0; at < line.length;) {
    const { length, kind } = readToken(name, line, at, state);
    const text = line.slice(at, at + length);
    const last = out.at(-1);
    if (last && last.kind === kind) last.text += text;
    else out.push({ text, kind });
    at += length;
  }
  return out;
}
