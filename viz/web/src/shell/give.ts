/** Gives a command from wherever the reader is: one of another view goes there first. */
import { effect, untracked } from "@preact/signals";
import { enabled, isOn, type Command } from "../parts/command";
import type { Page } from "../state/link/view";
import { announce, data, setPage } from "../state/actions";
import { rowsArrived, run, view } from "../state/state";

/** What a view needs to know for the command may still be on its way, ms. */
const PATIENCE = 5000;
/** The rows of a run, and the devices of a machine that has other things to do, take longer, ms. */
const WHILE_FILLING = 60_000;
/** Until what the address names is drawn, ms: what opens before would be closed by that. */
const SETTLE = 150;

let stop = (): void => undefined;

/** Whether the page does not know yet what can be done: of which run it is, or on which devices. */
export function isFilling(): boolean {
  const r = run.peek();
  const looks = data().server !== null && r !== null && r.targets.length > 0 && !r.devices.length;
  return !rowsArrived.peek() || looks;
}

/** A key that came too early: the command is given once it can be, unless the reader goes on before. */
export function giveOnceReady(command: Command): void {
  stop();
  announce(`${command.title}: as soon as the page is ready`);
  wait(command, WHILE_FILLING, null); // the address may not have been read yet
}

/** What waits is no longer wanted: the reader does something else. */
export const dropWaiting = (): void => stop();

export function giveCommand(command: Command): void {
  stop();
  const [page] = command.pages ?? [];
  if (page === undefined || isOn(command, view.peek().page)) {
    command.run();
    return;
  }
  setPage(page);
  wait(command, PATIENCE, view.peek().page);
}

/** Gives a command once it can be given, unless that takes too long, or the reader leaves `page`. */
function wait(command: Command, patience: number, page: Page | null): void {
  let isWaiting = true;
  const give = (): void => {
    if (!isWaiting || !enabled(command)) return;
    stop();
    untracked(() => command.run());
  };
  const leave = (): void => {
    stop();
    announce(`${command.title}: this cannot be done here now`);
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = effect(() => {
    void [rowsArrived.value, run.value];
    if (page !== null && view.value.page !== page) queueMicrotask(() => isWaiting && stop());
    else if (enabled(command)) setTimeout(give, page === null ? SETTLE : 0); // once it is known how to stop
    else if (!isFilling() && patience > PATIENCE) {
      patience = PATIENCE; // all is here that it can wait for
      clearTimeout(timer);
      timer = setTimeout(leave, patience);
    }
  });
  timer = setTimeout(leave, patience);
  stop = () => {
    isWaiting = false;
    end();
    clearTimeout(timer);
    stop = () => undefined;
  };
}
