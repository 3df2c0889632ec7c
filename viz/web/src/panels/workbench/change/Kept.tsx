/** The variants of the kernel that are kept, in a narrow list; all figures are in their table. */
import { useEffect } from "preact/hooks";
import { short } from "../../../state/format";
import { saidOfTimes } from "../../../parts/ratio";
import { kindOf, targetOf } from "../../../parts/kernel/columns";
import { intervalOf } from "../../../parts/whatif/figures";
import { compareVariants, showVariants, variants } from "../../../parts/whatif/store";
import { RowMenu } from "../../../parts/whatif/VariantsTable";
import type { VariantRow } from "../../../data/messages/trials/whatif";
import { goWorkbench } from "../data/link";

/** The newest ones. */
const MOST = 50;

export function Kept() {
  useEffect(showVariants, []);
  const rows = (variants.value ?? []).toReversed();
  if (!rows.length) return null;
  return (
    <ul class="wb-list wb-kept" aria-label="Kept variants">
      {rows.slice(0, MOST).map((row) => (
        <li class="row" key={row.number}>
          <button
            type="button"
            class="wb-variant"
            title={`${short(row.variant.said, 200)}: compare variant ${row.number} with the recorded kernel`}
            onClick={() => void compareVariants(row.number)}
          >
            <span class="t3 num">{row.number}</span>
            <span class="el sp">{short(row.variant.said || "not known", 80)}</span>
            <Figure row={row} />
          </button>
          <RowMenu
            row={row}
            edited={(column) =>
              goWorkbench({ kind: kindOf(column), target: targetOf(column), text: "edited" })
            }
          />
        </li>
      ))}
      {rows.length > MOST && (
        <li class="wb-note">
          {rows.length - MOST} older ones: the table of variants below has them.
        </li>
      )}
    </ul>
  );
}

/** What is wrong with it, or else its time over that of the recorded kernel. */
function Figure({ row: { error, outcome, times } }: { row: VariantRow }) {
  if (error)
    return (
      <span class="badge del" title={error.what}>
        fails
      </span>
    );
  if (outcome && !outcome.equal)
    return (
      <span class="badge del" title={outcome.said}>
        differs
      </span>
    );
  if (!times) return <span class="t3">{outcome ? "equal" : "not run"}</span>;
  const { figure, tint } = saidOfTimes(times, outcome?.equal === true);
  return (
    <span class={tint ? `${tint} b num` : "num"} title={intervalOf(times)}>
      {figure}
    </span>
  );
}
