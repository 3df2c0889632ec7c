/** A link to what is shown, or a file of it; while a file is made, how far it is, in the place of the button. */
import { useState } from "preact/hooks";
import { Icon } from "../../ui/Icon";
import { Menu, MenuItem } from "../../ui/over/Menu";
import { copyLink, linkCopied } from "../../parts/traces/copyLink";
import { data } from "../../state/actions";
import { clip } from "../../state/format";
import {
  cancelExport,
  capturedWords,
  exporting,
  exportPercent,
  saveAllRuns,
  saveExport,
} from "../../state/save";
import { currentKernel, hasRows, openRuns, runName, severalRuns } from "../../state/state";
import { usualTexts } from "../../parts/kernel/columns";

export function Share() {
  return (
    <Menu
      label="Share"
      class="btn export"
      disabled={!hasRows.value}
      button={
        <>
          <Icon name="export" />
          <span class="mid">{linkCopied.value ? "✓ Link" : "Share"}</span>
        </>
      }
    >
      {(close) => (
        <>
          <MenuItem
            onClick={() => {
              close();
              void copyLink();
            }}
          >
            Copy a link to this view
          </MenuItem>
          {data().server && <Files close={close} />}
        </>
      )}
    </Menu>
  );
}

/** What can be saved as a file that opens without a server. */
function Files({ close }: { close: () => void }) {
  const kernel = currentKernel.value;
  const [values, keepValues] = useState(false);
  const [passes, withPasses] = useState(false);
  const whole = severalRuns.value ? `Whole run ${runName.value}` : "Whole run";
  return (
    <>
      <div class="note">One HTML file that opens from disk, without a server or a network.</div>
      <label class="values">
        <input type="checkbox" checked={passes} onChange={() => withPasses(!passes)} />
        With the passes of the targets
      </label>
      {usualTexts() && (
        <div class="note">
          {passes
            ? `Each kernel's way to ${usualTexts()}, step by step. Takes longer.`
            : `The file shows ${usualTexts()} of each kernel, with links of lines.`}
        </div>
      )}
      {capturedWords.value && (
        <>
          <label class="values">
            <input type="checkbox" checked={values} onChange={() => keepValues(!values)} />
            With {capturedWords.value}
          </label>
          <div class="note">They may be private. A redacted file never holds them.</div>
        </>
      )}
      <MenuItem
        onClick={() => {
          close();
          void saveExport({ values, passes });
        }}
      >
        {whole}
      </MenuItem>
      <MenuItem
        onClick={() => {
          close();
          void saveExport({ redact: true, passes });
        }}
      >
        {whole}, redacted: no folders, sources or command
      </MenuItem>
      {severalRuns.value && (
        <MenuItem
          onClick={() => {
            close();
            void saveAllRuns({ values, passes });
          }}
        >
          All {openRuns.value.length} runs, with their comparison
        </MenuItem>
      )}
      {kernel && (
        <MenuItem
          onClick={() => {
            close();
            void saveExport({ kernels: [kernel.id], values, passes });
          }}
        >
          Only {clip(kernel.name, 60).text}
        </MenuItem>
      )}
    </>
  );
}

/** In the place of the button while an export is made, as wide as it is: a press cancels it. */
export function Exporting() {
  const percent = exportPercent();
  return (
    <>
      <span
        class="sr"
        role="progressbar"
        aria-label="Export"
        aria-valuenow={percent ? parseInt(percent) : undefined}
        aria-valuetext={exporting.value ?? ""}
      >
        Exporting {percent}
      </span>
      <button
        type="button"
        class="btn export"
        aria-label="Cancel the export"
        title={`${exporting.value || "Exporting"}. Cancel the export (Esc)`}
        onClick={cancelExport}
      >
        <Icon name="close" />
        <span class="num">{percent || "0%"}</span>
        <span class="progress" aria-hidden="true">
          <i style={{ width: percent || "0%" }} />
        </span>
      </button>
    </>
  );
}
