/** Where nodes come from, and where they go. */
/** Where the nodes of a schedule or a kernel come from, and where they go. */
export interface Lineage {
  done: true;
  /** Id of the context (or of a rewrite without one) that it is about. */
  scope: number;
  ops: string[];
  /** Lines of the user's program. */
  lines: string[];
  node: {
    /** Trace-wide node id. */
    id: number[];
    op: number[];
    /** Index into `lines`, -1 none. */
    line: number[];
    /** The event that made the node; -1: it came with the graph of `rewrite`. */
    event: number[];
    /** The rewrite in which it was first seen. */
    rewrite: number[];
  };
  /** In the order in which they happened; `old` and `new` are indices of `node`. */
  event: {
    rewrite: number[];
    step: number[];
    /** Rule id; -1: the same node with other sources; -2: changed between two passes. */
    rule: number[];
    old: number[];
    new: number[];
  };
  /** The pass of another scope that made the first graph. */
  from: { scope: number; rewrite: number } | null;
  /** Kernels that begin with a graph of this scope; `node`: the nodes of that graph. */
  kernels: { scope: number; rewrite: number; node: number[] }[];
  truncated: string | null;
}

/** Asking again goes on with the work. */
export interface LineageWaits {
  done: false;
  /** 0 to 1. */
  progress: number;
}
