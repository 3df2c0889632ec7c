/** What if: the kernel compiled otherwise, and the variants that were tried. Folded to one row. */
import { plural } from "../../state/format";
import { Icon } from "../../ui/Icon";
import { JobLine } from "../../parts/whatif/JobLine";
import { VariantForm } from "../../parts/whatif/VariantForm";
import { VariantsTable } from "../../parts/whatif/VariantsTable";
import { canTry, chosen, compareVariants, variants } from "../../parts/whatif/store";
import { variantsOpen } from "../../parts/whatif/variants";

export function VariantsPanel() {
  const open = variantsOpen.value;
  const tried = variants.value?.length ?? 0;
  return (
    <section class={open ? "wb-tried open" : "wb-tried"} data-region="Tried so far" aria-label="Tried so far">
      <button
        type="button"
        class="disclose"
        aria-expanded={open}
        onClick={() => (variantsOpen.value = !open)}
      >
        <span class={open ? "turned" : ""}>
          <Icon name="right" />
        </span>
        <b>Tried so far</b>
        <span class="sp" />
        <span class="t2 num">{tried ? plural(tried, "variant") : "none yet"}</span>
      </button>
      {open && (
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
      )}
    </section>
  );
}
