/** Commands of the packed runs. */
import type { Command } from "../../parts/command";
import { show } from "./link";
import { cursor, fleet, mark, openPair, openRun, runAt, series } from "./store";

const selected = () => (cursor.value === null ? undefined : runAt(cursor.value));
const command = (
  id: string,
  title: string,
  keys: Command["keys"],
  run: () => void,
  when: () => boolean,
): Command => ({ id: `fleet-${id}`, title, group: "Fleet", keys, pages: ["fleet"], run, when });

export const fleetCommands: readonly Command[] = [
  command(
    "open",
    "Open the selected run",
    ["Enter"],
    () => void openRun(selected()!),
    () => selected() !== undefined,
  ),
  command(
    "mark",
    "Mark the selected run, or compare it with the marked one",
    [],
    () => mark(selected()!),
    () => selected() !== undefined,
  ),
  command(
    "change",
    "Compare the runs before and after the last change of this figure",
    [],
    () => {
      const last = changes().at(-1)!;
      void openPair(last.a, last.b);
    },
    () => changes().length > 0,
  ),
  command(
    "all",
    "List all runs",
    [],
    () => show({ query: "" }),
    () => !!fleet.value,
  ),
];

const changes = () => series.value?.programs.flatMap((p) => p.changes) ?? [];
