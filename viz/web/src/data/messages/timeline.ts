/** When everything of the run happened. Times are microseconds since the recording began. */
export interface TimelineData {
  version: 1;
  end: number;
  /** Names of spans and launches; tracks hold indices. */
  names: string[];
  tracks: TimelineTrack[];
  /** A sentence that says what was left out, if anything. */
  truncated: string | null;
}

interface TrackHead {
  name: string;
  /** Number of the process in the run, its process id (0: unknown), and the thread in it. */
  process: number;
  pid: number;
  thread: number;
  /** The first time, then differences. */
  start: number[];
}

/** Contexts and passes of a thread, by level; each level ascends in time without overlap. */
export interface ThreadTrack extends TrackHead {
  kind: "thread";
  level: number[];
  /** Duration; -1: it had not ended. */
  us: number[];
  names: number[];
  /** 0 schedule, 1 kernel, 2 pass, 3 group. */
  kinds: number[];
  /** Context or rewrite id. */
  id: number[];
  /** Matches of a pass; 0 for contexts. */
  steps: number[];
  /** Positions of spans that ended in an error. */
  failed: number[];
}

/** Kernel launches on a device, ascending in time. */
export interface DeviceTrack extends TrackHead {
  kind: "device";
  ns: number[];
  names: number[];
  bytes: number[];
}

/** Bytes allocated on a device, from each time on. */
export interface MemoryTrack extends TrackHead {
  kind: "memory";
  bytes: number[];
  /** Of each time the allocation that begins, and once more that ends; 0: unknown. */
  numbers: number[];
  /** Bytes of one that begins; what is the first to write it, and the user's lines, one name with
   * line breaks. */
  taken: number[];
  kernels: number[];
  lines: number[];
}

export type TimelineTrack = ThreadTrack | DeviceTrack | MemoryTrack;
