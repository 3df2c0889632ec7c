/**
 * Which union edges exist in one state, and at which port of their user.
 *
 * Follows a replay's version changes, so a step costs the edges it changes.
 */
import type { Timeline } from "../model/timeline";

export class LiveEdges {
  /** Per union edge: 1 if it exists now. */
  readonly live: Uint8Array;
  /** Per union edge: which source of its user it is. */
  readonly port: Uint16Array;
  /** Per slot: how many sources it has now. */
  readonly ports: Uint16Array;

  constructor(private readonly timeline: Timeline) {
    this.live = new Uint8Array(timeline.edgeSrc.length);
    this.port = new Uint16Array(timeline.edgeSrc.length);
    this.ports = new Uint16Array(timeline.slots);
    for (let s = 0; s < timeline.slots; s++) this.put(timeline.first[s]!);
  }

  /** The slot goes from one version to another. */
  readonly change = (from: number, to: number): void => {
    for (const e of this.timeline.edge[from]!) this.live[e] = 0;
    this.put(to);
  };

  private put(version: number): void {
    const edges = this.timeline.edge[version]!;
    for (let i = 0; i < edges.length; i++) {
      this.live[edges[i]!] = 1;
      this.port[edges[i]!] = i;
    }
    this.ports[this.timeline.slot[version]!] = edges.length;
  }
}
