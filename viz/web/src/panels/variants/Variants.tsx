/** What if: the kernel compiled otherwise, and the variants that were tried. */
import { JobLine } from "../../parts/whatif/JobLine";
import { VariantForm } from "../../parts/whatif/VariantForm";
import { VariantsTable } from "../../parts/whatif/VariantsTable";
import { canTry, chosen, compareVariants } from "../../parts/whatif/store";

export function Variants() {
  return (
    <div class="whatif">
      {canTry() && (
        <div class="wi-row">
          <JobLine />
          <button
            type="button"
            class="btn sm quiet"
            disabled={chosen.value.length < 2}
            title="Choose two variants in the table, then compare them with each other"
            onClick={() => void compareVariants(...chosen.peek().toSorted((a, b) => a - b))}
          >
            {chosen.value.length < 2
              ? "Compare two"
              : `Compare ${chosen.value.toSorted((a, b) => a - b).join(" and ")}`}
          </button>
          <VariantForm />
        </div>
      )}
      <div class="wi-table" tabIndex={-1}>
        <VariantsTable />
      </div>
    </div>
  );
}
