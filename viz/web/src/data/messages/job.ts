/** Work that the server does meanwhile, and the one shape of its errors. */
/** The one shape of every error: what happened, where, what to do. */
export interface ApiProblem {
  what: string;
  where: string;
  hint: string;
}

export interface Job {
  state: "running" | "done" | "error";
  progress: string;
  result: unknown;
  /** What it has so far, of a search that goes on to look for something better; else null. */
  best?: unknown;
  error: ApiProblem | null;
}

/** The result of an export. */
export interface Exported {
  /** Sentences that say what the file does not hold. */
  leftOut: string[];
}
