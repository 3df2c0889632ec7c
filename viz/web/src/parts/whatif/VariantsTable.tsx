/** The variants of the kernel that is looked at: what was changed, and what came of it. */
import { useEffect, useState } from "preact/hooks";
import type { VariantRow } from "../../data/messages/trials/whatif";
import { count, plural, short } from "../../state/format";
import { Icon } from "../../ui/Icon";
import { Menu, MenuItem } from "../../ui/over/Menu";
import { Clipped } from "../../ui/code/Text";
import { Failed } from "../Failed";
import { intervalWords, saidOfTimes } from "../ratio";
import { asked } from "./asked";
import { amounts, intervalOf } from "./figures";
import {
  choose,
  chosen,
  compareVariants,
  deleteVariant,
  isRunning,
  minimise,
  retryVariants,
  saveScript,
  showVariants,
  variants,
  variantsError,
  whatIsNeeded,
} from "./store";
import { editVariant } from "./texts";

/** Rows that are shown at first, the newest. */
const MOST = 100;

/** `compact`: for a narrow box, without registers, code and the choice of two. */
export function VariantsTable({ compact = false }: { compact?: boolean }) {
  const [all, showAll] = useState(false);
  useEffect(showVariants, []);
  const needed = whatIsNeeded();
  const found = variants.value;
  if (needed) return <div class="state">{needed}</div>;
  if (variantsError.value) return <Failed problem={variantsError.value} retry={retryVariants} />;
  if (!found)
    return (
      <div class="state" role="status">
        Loading the variants
      </div>
    );
  if (!found.length)
    return (
      <div class="state">
        No variant of this kernel yet. Leave a rule out, stop after a step, or choose other
        optimizations, then compile and run. Or edit its text, and keep that.
      </div>
    );
  const newest = found.toReversed();
  const shown = all ? newest : newest.slice(0, MOST);
  const left = newest.length - shown.length;
  return (
    <>
      <table class={compact ? "variants compact" : "variants"} aria-label="Variants of this kernel">
        <thead>
          <tr>
            {!compact && (
              <th>
                <span class="sr">Choose two to compare</span>
              </th>
            )}
            <th class="r">No.</th>
            <th>Variant</th>
            <th class="r">Time</th>
            {!compact && (
              <>
                <th class="r">Registers</th>
                <th class="r">Instructions</th>
              </>
            )}
            <th>Result</th>
            <th />
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <Line key={row.number} row={row} compact={compact} />
          ))}
        </tbody>
      </table>
      {left > 0 && (
        <button type="button" class="link wi-more" onClick={() => showAll(true)}>
          {plural(left, "older variant")}
        </button>
      )}
    </>
  );
}

function Line({ row, compact }: { row: VariantRow; compact: boolean }) {
  return (
    <tr>
      {!compact && (
        <td>
          <input
            type="checkbox"
            aria-label={`Choose variant ${row.number}`}
            checked={chosen.value.includes(row.number)}
            onChange={() => choose(row.number)}
          />
        </td>
      )}
      <td class="r">{row.number}</td>
      <td>
        <Clipped text={row.variant.said || "not known"} limit={160} />
        {row.changed.length > 0 && (
          <>
            {" "}
            <span class="badge mov" title={row.changed.join("\n")}>
              new code
            </span>
          </>
        )}
        {row.error && (
          <div class="cdel">
            <Clipped text={row.error.what} limit={240} />
          </div>
        )}
      </td>
      <td class="r">
        <Time row={row} />
      </td>
      {!compact && (
        <>
          <td class="r">{amounts(row, "registers")}</td>
          <td class="r">{amounts(row, "instructions")}</td>
        </>
      )}
      <td>
        <Result row={row} />
      </td>
      <td class="wi-do">
        <button
          type="button"
          class="btn sm"
          title="Compare with the recorded kernel"
          onClick={() => void compareVariants(row.number)}
        >
          Compare
        </button>
        <RowMenu row={row} />
      </td>
    </tr>
  );
}

function Time({ row }: { row: VariantRow }) {
  const { times } = row;
  if (!times) return <span class="t3">{row.error ? "" : "not timed"}</span>;
  const { words, tint } = saidOfTimes(times, row.outcome?.equal === true);
  return (
    <span class="wi-time" title={intervalOf(times)}>
      <b class={tint || "t2"}>{words}</b>
      <span class="t3 nw">
        {" "}
        {intervalWords(times)}
      </span>
    </span>
  );
}

function Result({ row: { error, outcome, device, notes } }: { row: VariantRow }) {
  const said = [outcome?.said, device && `on ${device}`, ...notes].filter(Boolean).join("\n");
  if (error) return <span class="badge del">✕ fails</span>;
  if (!outcome)
    return (
      <span class="badge" title={said}>
        not run
      </span>
    );
  return (
    <span class={outcome.equal ? "badge add" : "badge del"} title={said}>
      {outcome.equal ? "✓ equal" : "≠ differs"}
    </span>
  );
}

interface RowMenuProps {
  row: VariantRow;
  /** Told the column of a text once it is in the editor. */
  edited?: (column: string) => void;
}

/** What can be done with a variant, and what is known of it. */
export function RowMenu({ row, edited }: RowMenuProps) {
  const { skip, stop_after, inside, opts, target } = row.variant;
  const isText = row.variant.edited !== "";
  return (
    <Menu
      label={`More about variant ${row.number}`}
      class="btn sm ico quiet"
      button={<Icon name="menu" />}
    >
      {(close) => (
        <>
          {isText ? (
            <MenuItem
              onClick={() => {
                close();
                void editVariant(row.number).then((column) => column && edited?.(column));
              }}
            >
              Edit this text again
            </MenuItem>
          ) : (
            <MenuItem
              onClick={() => {
                asked.value = { skip, stop_after, inside, opts, target };
                close();
              }}
            >
              Change it, and try again
            </MenuItem>
          )}
          <MenuItem
            onClick={() => {
              void saveScript(row.number);
              close();
            }}
          >
            Save a reproduction script
          </MenuItem>
          <MenuItem
            disabled={isRunning() || isText}
            onClick={() => {
              void minimise(row.number);
              close();
            }}
          >
            Minimize and save the script
          </MenuItem>
          {isText && (
            <>
              <div class="note">Not minimized: a smaller kernel would need another text.</div>
              <div class="note">
                This text lies beside the trace. Run it only if you trust who wrote it.
              </div>
            </>
          )}
          <MenuItem
            onClick={() => {
              void deleteVariant(row.number);
              close();
            }}
          >
            Delete
          </MenuItem>
          <div class="note">{short(row.variant.said, 120)}</div>
          {row.code && (
            <div class="note num">
              {row.code.text} of {count(row.code.lines ?? 0)} lines
              {row.opts !== null && <>, opts {short(row.opts || "none", 80)}</>}
            </div>
          )}
          {row.notes.map((note) => (
            <div class="note" key={note}>
              {short(note, 200)}
            </div>
          ))}
        </>
      )}
    </Menu>
  );
}
