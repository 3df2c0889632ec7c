/** What a server does with kernels compiled otherwise. */
import type {
  ChangedRules,
  EditedText,
  OpenedVariant,
  VariantRow,
  VariantSpec,
  VariantText,
} from "./messages/trials/whatif";

/** Each is about one run. All reject with a DataError. */
export interface WhatIfActions {
  /** Starts compiling a kernel as a variant, or running a text in its place, for at most so many
   * seconds; answers with a job. */
  tryVariant(
    context: number,
    asked: VariantSpec,
    seconds: number,
    text?: EditedText | null,
  ): Promise<number>;
  /** The edited text of a variant. */
  text(number: number): Promise<VariantText>;
  /** The variants of a kernel, in the order in which they were tried. */
  variants(context: number, signal?: AbortSignal): Promise<VariantRow[]>;
  deleteVariant(number: number): Promise<void>;
  /** Opens the trace of a variant beside the runs, where it is not open. */
  openVariant(number: number): Promise<OpenedVariant>;
  /** A reproduction script. */
  script(number: number): Promise<Blob>;
  /** Starts making the kernel of one smaller; answers with a job whose result is SmallerScript. */
  minimise(number: number): Promise<number>;
  /** Starts compiling a kernel, or all of them, with the code on disk; answers with a job whose
   * result is Replayed. */
  replay(context: number | null): Promise<number>;
  changedRules(signal?: AbortSignal): Promise<ChangedRules>;
}

/** How requests are sent. */
export interface Sending {
  get: <T>(path: string, signal?: AbortSignal) => Promise<T>;
  post: <T>(path: string, body: unknown) => Promise<T>;
  send: (path: string, init?: RequestInit) => Promise<Response>;
}

/** The actions over HTTP; `own`: what the paths of the run begin with. */
export function whatIfActions(own: string, { get, post, send }: Sending): WhatIfActions {
  const job = async (path: string, body: object): Promise<number> =>
    (await post<{ job: number }>(`${own}/${path}`, body)).job;
  return {
    tryVariant: (context, asked, seconds, text = null) =>
      job(`kernels/${context}/variants`, { ...asked, seconds, text }),
    text: (number) => get<VariantText>(`${own}/variants/${number}/text`),
    variants: (context, signal) => get<VariantRow[]>(`${own}/kernels/${context}/variants`, signal),
    deleteVariant: async (number) =>
      void (await send(`${own}/variants/${number}`, { method: "DELETE" })),
    openVariant: (number) => post<OpenedVariant>(`${own}/variants/${number}/open`, {}),
    script: async (number) => (await send(`${own}/variants/${number}/script`)).blob(),
    minimise: (number) => job(`variants/${number}/minimise`, {}),
    replay: (context) => job(context === null ? "replay" : `kernels/${context}/replay`, {}),
    changedRules: (signal) => get<ChangedRules>(`${own}/changed`, signal),
  };
}
