/** Short lists beside the kernels: problems, what rules and passes cost, other runs. */
import type { ComponentChildren } from "preact";
import type { RuleShare } from "../../../data/messages/overview";
import { onArrows } from "../../../parts/arrows";
import { Go } from "../../../parts/Go";
import { pageAt, passAt, rulesNamed } from "../../../state/link/links";
import { BackTo } from "../../../parts/traces/BackTo";
import { openRecent, useRecent } from "../../../parts/traces/recent";
import { openBeside } from "../../../parts/traces/runs";
import { percent } from "../../../parts/speed";
import { ago } from "../../../parts/traces/ago";
import { count, micros, plural, short } from "../../../state/format";
import { kernelCount, overlay, rewriteRows, run } from "../../../state/state";
import { overview, steady, steadyList } from "../data/store";

const FEW = 5;

interface ListProps {
  title: string;
  hint?: string;
  all?: ComponentChildren;
  /** Of a list that `steady` orders: its name. */
  name?: string;
  children: ComponentChildren;
}

function List({ title, hint, all, name, children }: ListProps) {
  return (
    <section class="ov-sec ov-list" data-region={title} aria-label={title}>
      <div class="ov-h">
        <h3>{title}</h3>
        {hint && <span class="t3 el">{hint}</span>}
        <span class="sp" />
        {all}
      </div>
      <div onKeyDown={onArrows} {...(name && steadyList(name))}>
        {children}
      </div>
    </section>
  );
}

/** What went wrong, if anything did. */
export function Problems() {
  const all = run.value?.problems ?? [];
  if (!all.length) return null;
  const show = (): void => void (overlay.value = "problems");
  return (
    <List
      title="Problems"
      all={
        <button type="button" class="link num" onClick={show}>
          all {count(all.length)}
        </button>
      }
    >
      {all.slice(0, FEW).map((p, i) => (
        <div class="ov-item" data-line key={i}>
          <span class="sig del">!</span>
          {p.rewrite !== null && rewriteRows.value.has(p.rewrite) ? (
            <Go
              to={passAt(p.rewrite, p.step)}
              class="link el"
              title={short(`${p.what}\n${p.hint}`, 1000)}
            >
              {short(p.what, 200)}
            </Go>
          ) : (
            <button
              type="button"
              class="link el"
              title={short(`${p.what}\n${p.hint}`, 1000)}
              onClick={show}
            >
              {short(p.what, 200)}
            </button>
          )}
          <span class="sp" />
          <span class="t3 small el where" title={short(p.where, 1000)}>
            {short(p.where, 120)}
          </span>
        </div>
      ))}
    </List>
  );
}

/** The costliest rules and the slowest passes. */
export function Costs() {
  const o = overview.value;
  if (!o) return null;
  const rules = steady("rules", "", o.rules.slice(0, FEW), (r) => String(r.id));
  const passes = steady("passes", "", o.passes.slice(0, FEW), (p) => String(p.id));
  const timed = o.passesUs > 0;
  const costs = timed && rules.some((rule) => rule.us > 0);
  return (
    <>
      {rules.length > 0 && (
        <List
          name="rules"
          title={costs ? "Costliest rules" : "Busiest rules"}
          hint={costs ? "share of pass time" : "by matches"}
          all={<Go to={pageAt("rules")}>all rules</Go>}
        >
          {rules.map((rule) => (
            <div class="ov-item" data-line key={rule.id}>
              <Go
                to={rulesNamed(rule.name)}
                class="link plain b mono el name"
                title={short(rule.name, 500)}
              >
                {short(rule.name)}
              </Go>
              <span class="t3 mono small el eq1" title={short(rule.equation, 1000)}>
                {short(rule.equation)}
              </span>
              <span class="sp" />
              <Go to={rulesNamed(rule.name)} class="link plain num nw" inner title={timeOf(rule)}>
                {costs ? percent(rule.share) : count(rule.matches)}
              </Go>
            </div>
          ))}
        </List>
      )}
      {(timed || passes.some((pass) => pass.steps > 1)) && (
        <List
          name="passes"
          title={timed ? "Slowest passes" : "Largest passes"}
          hint={timed ? "without nested passes" : "by steps"}
          all={<Go to={pageAt("timeline")}>all {count(run.value?.totals.rewrites ?? 0)}</Go>}
        >
          {passes.map((pass) => (
            <div class="ov-item" data-line key={pass.id}>
              <Go to={passAt(pass.id)} class="link plain b el name" title={short(pass.name, 500)}>
                {short(pass.name)}
              </Go>
              <span class="t3 small el eq1" title={short(pass.of, 500)}>
                {short(pass.of)}
              </span>
              <span class="sp" />
              <Go
                to={passAt(pass.id)}
                class="link plain num nw"
                inner
                title={plural(pass.steps, "step")}
              >
                {pass.us > 0 ? micros(pass.us) : plural(pass.steps, "step")}
              </Go>
            </div>
          ))}
        </List>
      )}
    </>
  );
}

/** What the time of a rule is the time of. */
function timeOf({ us, tries, matches }: RuleShare): string {
  const matched = plural(matches, "match", "matches");
  if (tries == null) return `${micros(us)} in ${matched}`;
  return `${micros(us)} in ${plural(tries, "try", "tries")}, ${matched}`;
}

/** Other runs of the user's cache. */
export function RecentRuns() {
  const { traces, former } = useRecent();
  if (former === null && !traces.some((t) => !t.open)) return null;
  return (
    <List title="Recent runs" hint="on this machine">
      {former !== null && (
        <div class="ov-item" data-line>
          <BackTo former={former} />
        </div>
      )}
      {traces.slice(0, FEW).map((t) => (
        <div class="ov-item" data-line key={t.name}>
          {t.open ? (
            <b class="el name" title={t.name}>
              {short(t.program || t.name, 60)}
            </b>
          ) : (
            <button
              type="button"
              class="link plain b el name"
              title={t.name}
              onClick={() => void openRecent(t.name)}
            >
              {short(t.program || t.name, 60)}
            </button>
          )}
          {t.open && <span class="badge">open</span>}
          {t.live && <span class="badge ac">live</span>}
          <span
            class="t3 small num el eq1"
            title={`${kernelCount(t.kernels)}, ${plural(t.steps, "step")}`}
          >
            {kernelCount(t.kernels)}, {plural(t.steps, "step")}
          </span>
          {!t.open && (
            <button
              type="button"
              class="link small nw"
              title="Open this run, and compare the two"
              onClick={() => void openBeside(t.name)}
            >
              Compare
            </button>
          )}
          <span class="sp" />
          <span class="t3 num nw">{ago(t.started)}</span>
        </div>
      ))}
    </List>
  );
}
