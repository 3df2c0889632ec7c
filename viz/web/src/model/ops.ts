/**
 * Groups of ops, as the page colours and marks them.
 *
 * An op that is not listed counts as arithmetic, the largest group, so that a new op of another
 * compiler is still drawn. Holds no colours: these are the style sheet's.
 */
export type OpGroup =
  | "memory"
  | "range"
  | "arithmetic"
  | "const"
  | "reduce"
  | "movement"
  | "control"
  | "device";

const GROUPS: Record<Exclude<OpGroup, "arithmetic">, string> = {
  memory:
    "LOAD STORE INDEX ADDRESS DEFINE_GLOBAL DEFINE_LOCAL DEFINE_REG DEFINE_VAR DEFINE_ACC PARAM " +
    "BUFFER BUFFER_VIEW BUFFERIZE ASSIGN AFTER OUTPUT ENCDEC",
  range: "RANGE SPECIAL IOTA",
  const: "CONST VCONST BIND UNIQUE",
  reduce: "REDUCE REDUCE_AXIS ALLREDUCE WMMA",
  movement:
    "RESHAPE PERMUTE EXPAND PAD SHRINK FLIP VIEW VALID MULTI CAT VECTORIZE GEP UNROLL CONTRACT",
  control:
    "SINK NOOP GROUP IF ENDIF END BARRIER LINEAR PROGRAM KERNEL CUSTOM CUSTOMI",
  device: "DEVICE COPY CONTIGUOUS CONTIGUOUS_BACKWARD DETACH DERIVATIVE GRADIENT MSELECT MSTACK SHARD TENSOR FUSE",
};

const BY_OP = new Map<string, OpGroup>();
for (const [group, ops] of Object.entries(GROUPS))
  for (const op of ops.split(" ")) BY_OP.set(op, group as OpGroup);

export function opGroup(op: string): OpGroup {
  return BY_OP.get(op) ?? "arithmetic";
}

/** Every group, in the order in which legends list them. */
export const OP_GROUPS: readonly OpGroup[] = [
  "range",
  "const",
  "arithmetic",
  "memory",
  "reduce",
  "movement",
  "control",
  "device",
];

const SHORT: Record<string, string> = {
  DEFINE_GLOBAL: "GLOBAL",
  DEFINE_LOCAL: "LOCAL",
  DEFINE_REG: "REG",
  DEFINE_VAR: "VAR",
  REDUCE_AXIS: "REDUCE",
  CONTIGUOUS: "CONTIG",
  CONTIGUOUS_BACKWARD: "CONTIG BW",
  RECIPROCAL: "RECIP",
  GRADIENT: "GRAD",
  VECTORIZE: "VECTOR",
};

/** The op's name where room is short. */
export function shortOp(op: string): string {
  return SHORT[op] ?? op;
}
