/** What the pass did in A against what it did in B: rules with another number of matches. */
import { count, plural, short } from "../../../state/format";
import { Menu } from "../../../ui/over/Menu";
import { passes } from "../data/walk";

const MOST = 60;

export function Rules() {
  const rules = passes.value?.alignment.rules ?? [];
  return (
    <Menu
      label="Rules that differ in this pass"
      title="What the pass did in A against what it did in B"
      class="btn sm"
      disabled={!rules.length}
      button={
        <span class="num">
          {rules.length
            ? `${plural(rules.length, "rule")} differ${rules.length === 1 ? "s" : ""}`
            : "Same rules"}
        </span>
      }
    >
      {() => (
        <table class="cmp-table cmp-pop">
          <thead>
            <tr>
              <th>Matches in this pass</th>
              <th class="r">A</th>
              <th class="r">B</th>
              <th class="r">B − A</th>
            </tr>
          </thead>
          <tbody>
            {rules.slice(0, MOST).map((r) => (
              <tr key={r.name}>
                <td class="mono el">{short(r.name, 60)}</td>
                <td class="r">{count(r.a)}</td>
                <td class="r">{count(r.b)}</td>
                <td class="r b">{r.b > r.a ? `+${count(r.b - r.a)}` : `−${count(r.a - r.b)}`}</td>
              </tr>
            ))}
          </tbody>
          {rules.length > MOST && (
            <tfoot>
              <tr>
                <td colSpan={4} class="t3">
                  {plural(rules.length - MOST, "more rule")}
                </td>
              </tr>
            </tfoot>
          )}
        </table>
      )}
    </Menu>
  );
}
