/** The button that saves what is shown as a file, and what stands in its place meanwhile. */
import { useState } from "preact/hooks";
import { Icon } from "../../ui/Icon";
import { Menu, MenuItem } from "../../ui/over/Menu";
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

export function Export() {
  const kernel = currentKernel.value;
  const [values, keepValues] = useState(false);
  const whole = severalRuns.value ? `Whole run ${runName.value}` : "Whole run";
  return (
    <Menu
      label="Export"
      class="btn export"
      disabled={!hasRows.value}
      button={
        <>
          <Icon name="export" />
          <span class="mid">Export</span>
        </>
      }
    >
      {(close) => (
        <>
          <div class="note">One HTML file that opens from disk, without a server or a network.</div>
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
              void saveExport({ values });
            }}
          >
            {whole}
          </MenuItem>
          <MenuItem
            onClick={() => {
              close();
              void saveExport({ redact: true });
            }}
          >
            {whole}, redacted: no folders, sources or command
          </MenuItem>
          {severalRuns.value && (
            <MenuItem
              onClick={() => {
                close();
                void saveAllRuns(values);
              }}
            >
              All {openRuns.value.length} runs, with their comparison
            </MenuItem>
          )}
          {kernel && (
            <MenuItem
              onClick={() => {
                close();
                void saveExport({ kernels: [kernel.id], values });
              }}
            >
              Only {clip(kernel.name, 60).text}
            </MenuItem>
          )}
        </>
      )}
    </Menu>
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
