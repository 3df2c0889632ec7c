/** Gives a command from wherever the reader is: one of another view goes there first. */
import { effect, untracked } from "@preact/signals";
import { enabled, isOn, type Command } from "../parts/command";
import { announce, setPage } from "../state/actions";
import { view } from "../state/state";

/** What a view needs to know for the command may still be on its way, ms. */
const PATIENCE = 5000;

let stop = (): void => undefined;

export function giveCommand(command: Command): void {
  stop();
  const [page] = command.pages ?? [];
  if (page === undefined || isOn(command, view.peek().page)) {
    command.run();
    return;
  }
  setPage(page);
  let isWaiting = true;
  const give = (): void => {
    if (!isWaiting || !enabled(command)) return;
    stop();
    untracked(() => command.run());
  };
  const end = effect(() => {
    if (enabled(command)) queueMicrotask(give); // once it is known how to stop
  });
  const timer = setTimeout(() => {
    stop();
    announce(`${command.title}: this cannot be done here now`);
  }, PATIENCE);
  stop = () => {
    isWaiting = false;
    end();
    clearTimeout(timer);
    stop = () => undefined;
  };
}
