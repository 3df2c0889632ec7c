/** Starts the page: finds its data, takes the view from the address, draws. */
import { render } from "preact";
import { App } from "./shell/App";
import {
  connect,
  enterWith,
  fileName,
  firstPass,
  followOther,
  go,
  linkWith,
  readAddress,
} from "./state/actions";
import { flushAddress, resumeAddress, written } from "./state/link/address";
import { compareAt } from "./state/link/links";
import { runNamed, runOfLink, traceNamed } from "./state/link/named";
import { Query } from "./state/link/query";
import { readView, type Page } from "./state/link/view";
import { linkParts, pagePanel, startPanels } from "./shell/panels";
import { keepFocus } from "./shell/keepFocus";
import { onKeyDown } from "./shell/keys";
import { follow, refreshRuns } from "./state/live";
import {
  bundle,
  compiledRowOf,
  rows,
  run,
  runKey,
  runName,
  severalRuns,
  step,
  view,
} from "./state/state";
import { keepSubject } from "./parts/run/subject";
import { startTheme } from "./state/theme";
import { startRuns } from "./parts/traces/runs";
import { PATHS } from "./data/answers";
import { baseOf, FIRST_RUN, pathOf, RUNS, type Backend } from "./data/backend";
import { embeddedBackend } from "./data/embedded";
import { httpBackend } from "./data/server/http";
import { dropToken, startToken } from "./data/server/token";
import { removeWorkers } from "./data/server/workers";
import { effect, untracked } from "@preact/signals";
import "./style/tokens.css";
import "./style/base.css";
import "./style/layout.css";
import "./style/panels.css";
import "./style/sources.css";
import "./style/views.css";
import "./style/overview.css";
import "./style/compare.css";
import "./style/fleet.css";
import "./style/workbench.css";
import "./style/emulator.css";
import "./style/tile.css";
import "./style/why.css";
import "./style/whatif.css";
import "./style/forced.css";

/** How long the navigator's rows wait for a page that does without them. */
const PATIENCE_MS = 2000;

async function start(): Promise<void> {
  await resumeAddress();
  const embedded = embeddedBackend();
  // Before the token is kept: a service worker left at this port could read it there.
  if (!embedded && (await removeWorkers())) dropToken();
  const backend = embedded ?? httpBackend(startToken(), undefined, undefined, firstAnswers());
  connect(backend);
  if (embedded && !location.hash && (await refreshRuns(embedded)).length > 1)
    history.replaceState(history.state, "", written(compareAt("A", "B")));
  startTheme();
  linkWith(linkParts);
  enterWith((page) => pagePanel(page)?.enter?.() ?? []);
  startPanels();
  keepSubject();
  startRuns();
  addEventListener("keydown", onKeyDown);
  keepFocus();
  addEventListener("popstate", readAddress);
  addEventListener("hashchange", readAddress);
  addEventListener("pagehide", flushAddress);
  effect(() => {
    const name = run.value?.name;
    const which = severalRuns.value ? `${runName.value}: ` : "";
    document.title = name ? `${which}${name} · uopviz` : "uopviz";
  });
  effect(() => {
    if (runKey.value) queueMicrotask(followOther);
  });
  runName.value = await firstRun(backend);
  // Such a page is there before the run is known; what is done on it then must not be lost.
  const first = withoutRows();
  const early = first !== null && runNamed(location.hash) === runName.peek();
  if (early) readAddress();
  render(<App />, document.getElementById("app")!);
  void follow(backend, first ? () => pageShown(first) : undefined).then(() => {
    if (!early) readAddress();
    openSomething();
  });
}

/** The run that the address is about; the first one, where it says none that is open. */
async function firstRun(backend: Backend): Promise<string> {
  const { hash } = location;
  if (!traceNamed(hash) && runNamed(hash) === FIRST_RUN) return FIRST_RUN;
  try {
    const open = await refreshRuns(backend);
    return runOfLink(hash, new Map(open.map((r) => [r.name, fileName(r.file)]))) ?? FIRST_RUN;
  } catch {
    return FIRST_RUN; // its own answer says why
  }
}

/** The answers that are shown first, by the address. What it says of another run is not shown. */
function firstAnswers(): string[] {
  const { hash } = location;
  if (runNamed(hash) !== FIRST_RUN) return [RUNS]; // which it is, this says
  const below = (paths: readonly string[]): string[] =>
    paths.map((path) => baseOf(FIRST_RUN) + path);
  const page = withoutRows();
  if (page === "overview") return [...below([PATHS.run, PATHS.overview]), RUNS];
  if (page) return [...below([PATHS.run]), RUNS];
  const first = [PATHS.run, pathOf("tree", 0), PATHS.rules];
  const { page: opened, rewrite } = readView(new Query(hash));
  if (!traceNamed(hash) && opened === "graphs" && rewrite !== null)
    first.push(pathOf("bundle", rewrite));
  return [...below(first), RUNS];
}

/** The page that the address opens, where it needs no rows of the run. */
function withoutRows(): Page | null {
  const { page, kernel } = readView(new Query(location.hash));
  if (traceNamed(location.hash) || kernel !== null) return null;
  return pagePanel(page)?.withoutRows ? page : null;
}

/** Resolves when that page is shown, and at the latest after PATIENCE_MS. */
function pageShown(page: Page): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stop();
      resolve();
    };
    const stop = effect(() => {
      if (pagePanel(page)?.isShown?.()) setTimeout(done);
    });
    setTimeout(done, PATIENCE_MS);
  });
}

/**
 * While a page that follows the pass is open and the address names none: the one that was
 * shown last, as it was; else the failed pass, else the first kernel, else the first pass.
 */
function openSomething(): void {
  effect(() => {
    const all = rows.value;
    const { rewrite, page, kernel: named } = view.value;
    if (pagePanel(page)?.withoutPass || rewrite !== null || named !== null) return;
    const shown = bundle.peek()?.rewrite;
    if (shown !== undefined) {
      const at = view.peek().step ?? step.peek();
      untracked(() => go({ rewrite: shown, step: at }, "replace"));
      return;
    }
    const failed = all.find(
      (r) => r.kind === "rewrite" && r.status === "error" && compiledRowOf.value[r.row] === -1,
    );
    const kernel = all.find((r) => r.label === "kernel" && r.steps > 0);
    const first = all.find((r) => r.kind === "rewrite" && r.steps > 0);
    const opened = failed?.id ?? (kernel ? firstPass(kernel.row) : null) ?? first?.id;
    if (opened !== undefined) untracked(() => go({ rewrite: opened }, "replace"));
  });
}

void start();
