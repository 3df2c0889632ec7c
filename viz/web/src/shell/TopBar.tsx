/** The run's name, search, live state, export, theme and keys. */
import { Icon } from "../ui/Icon";
import { TabText } from "../ui/TabText";
import { setPage } from "../state/actions";
import type { Run } from "../data/messages/run";
import { clip, millis, plural, short } from "../state/format";
import { isFinished } from "../state/ending";
import { exporting } from "../state/save";
import { connection, hasRows, overlay, run, severalRuns, sidePanel, view } from "../state/state";
import { isOffered, pages } from "./panels";
import { dark, toggleTheme } from "../state/theme";
import { Exporting, Share } from "./top/Share";
import { RunMenu } from "./top/RunMenu";

export function TopBar() {
  const r = run.value;
  return (
    <header class="top" data-region="Top bar">
      <button
        type="button"
        class="btn ico quiet only-small"
        aria-label="Run navigator"
        aria-pressed={sidePanel.value === "nav"}
        onClick={() => (sidePanel.value = sidePanel.value === "nav" ? null : "nav")}
      >
        <Icon name="menu" />
      </button>
      <div class="logo">
        <Logo />
        uopviz
      </div>
      {r && (r.command || hasRows.value) && (
        <>
          <span class="vr" />
          {severalRuns.value && <RunMenu />}
          <h1 class="name el" title={r.command}>
            {clip(r.name, 120).text}
          </h1>
          <span class="t3 wide el num" title={about(r)}>
            {r.commit && (
              <>
                <span class="mono">{clip(r.commit, 10).text}</span>
                {r.dirty > 0 && ` + ${plural(r.dirty, "edit")}`} ·{" "}
              </>
            )}
            {r.seconds > 0 && millis(r.seconds * 1000)}
          </span>
        </>
      )}
      {hasRows.value && <Pages />}
      <span class="sp" />
      <Live />
      <button
        type="button"
        class="btn cmdk"
        aria-label="Search or run a command"
        title="Search or run a command (Ctrl K)"
        onClick={() => (overlay.value = "palette")}>
        <Icon name="search" />
        <span class="mid">Search</span>
        <span class="sp" />
        <kbd class="wide">Ctrl K</kbd>
      </button>
      {exporting.value === null ? <Share /> : <Exporting />}
      <button
        type="button"
        class="btn ico quiet"
        aria-label={dark.value ? "Switch to light" : "Switch to dark"}
        title={dark.value ? "Switch to light" : "Switch to dark"}
        onClick={toggleTheme}
      >
        <Icon name={dark.value ? "sun" : "moon"} />
      </button>
      <button
        type="button"
        class="btn ico quiet"
        aria-label="Keys"
        title="Keys (?)"
        onClick={() => (overlay.value = "keys")}
      >
        <b>?</b>
      </button>
      <button
        type="button"
        class="btn ico quiet only-small"
        aria-label="Inspector"
        aria-pressed={sidePanel.value === "insp"}
        onClick={() => (sidePanel.value = sidePanel.value === "insp" ? null : "insp")}
      >
        <Icon name="side" />
      </button>
    </header>
  );
}

/** Commit, edits and duration, as a title shows them. */
const about = (r: Run): string =>
  [
    r.commit &&
      `commit ${short(r.commit, 40)}${r.dirty > 0 ? ` + ${plural(r.dirty, "edit")}` : ""}`,
    r.seconds > 0 && millis(r.seconds * 1000),
  ]
    .filter(Boolean)
    .join(", ");

function Pages() {
  return (
    <nav class="tabs" aria-label="Views">
      {pages.filter(({ page }) => isOffered(page)).map(({ page, title, key }) => (
        <button
          type="button"
          class="tab"
          key={page}
          title={key}
          aria-current={view.value.page === page ? "page" : undefined}
          onClick={() => setPage(page)}
        >
          <TabText text={title} />
        </button>
      ))}
    </nav>
  );
}

function Live() {
  const r = run.value;
  const c = connection.value;
  if (c.kind === "lost" || (c.kind === "ended" && r?.live))
    return (
      <span class="live">
        <i class="dot off" />
        Offline
      </span>
    );
  if (!r?.live)
    return isFinished.value && (r?.command || hasRows.value) ? (
      <span class="live">
        <i class="dot done" />
        Finished
      </span>
    ) : null;
  return (
    <span class="live">
      <i class="dot" />
      Live
      {r.processes > 1 && (
        <span class="wide t3 num">{plural(r.processes, "process", "processes")}</span>
      )}
    </span>
  );
}

function Logo() {
  return (
    <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" class="mark">
      <path d="M4 4.5 9 13.5M14 4.5 9 13.5" />
      <circle class="a" cx="4" cy="4.5" r="2.8" />
      <circle class="b" cx="14" cy="4.5" r="2.3" />
      <circle class="c" cx="9" cy="13.5" r="2.8" />
    </svg>
  );
}
