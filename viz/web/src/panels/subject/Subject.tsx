/** What is looked at: kernel, pass and step, each a menu of the others. The same on every page. */
import { kindOfRow } from "../../data/rows";
import { goStep, openKernel, openSubject, openRewrite } from "../../state/actions";
import { count, plural, short } from "../../state/format";
import {
  arrived,
  bundle,
  currentCompilation,
  currentRow,
  currentStep,
  currentSubject,
  kernelCount,
  kernelPage,
  rows,
  ruleName,
  run,
  step,
  stepCount,
  unreadable,
  view,
} from "../../state/state";
import { CutMiddle } from "../../ui/CutMiddle";
import { MenuItem } from "../../ui/over/Menu";
import { Choice, type Entry } from "../../ui/over/Choice";
import { entriesBeside, entriesOfRun, titled } from "./choices";

export function Subject() {
  if (!rows.value.length)
    return <b class="nw t2">{run.value && !run.value.live ? "No run" : "No kernel yet"}</b>;
  const isRun = view.value.page === "overview" && kernelPage.value === null;
  return (
    <nav class="subject" aria-label="Subject">
      <Kernel isRun={isRun} />
      {!isRun && <Pass />}
      {!isRun && <Step />}
    </nav>
  );
}

/** The kernel, or what else the pass belongs to; on the overview all of the run. */
function Kernel({ isRun }: { isRun: boolean }) {
  const own = isRun ? null : currentSubject.value;
  const name = own ? short(own.name) : size();
  return (
    <Choice
      label={own ? `${titled(kindOfRow(own))} ${name}: choose another` : `Open one of ${name}`}
      class="btn quiet crumb"
      title={own ? short(own.name, 1000) : "Open a kernel"}
      button={
        own ? (
          <b class="mono el">
            <CutMiddle text={name} />
          </b>
        ) : (
          <span class="nw">{name}</span>
        )
      }
      find="Find a kernel"
      above={
        own?.label === "kernel" && kernelPage.value === null
          ? (close) => (
              <MenuItem
                onClick={() => {
                  close();
                  openKernel(own.id);
                }}
              >
                Page of this kernel
              </MenuItem>
            )
          : undefined
      }
      entries={entriesOfRun}
      now={own ? String(own.row) : null}
      onPick={(key) => openSubject(Number(key))}
    />
  );
}

/** How much there is of the run: its kernels, or its passes where there are none. */
function size(): string {
  const totals = run.value?.totals;
  return totals && !totals.kernels && totals.rewrites
    ? plural(totals.rewrites, "pass", "passes")
    : kernelCount(totals?.kernels ?? 0);
}

function Pass() {
  const row = currentRow.value;
  if (!row) return null;
  const target = currentCompilation.value?.target;
  return (
    <>
      <span class="t3">/</span>
      {target && <span class="t2 nw mono">{short(target, 40)}</span>}
      <Choice
        label={`Pass ${short(row.name)}: choose another`}
        class="btn quiet crumb"
        title={row.name}
        button={
          <b class="el">
            <CutMiddle text={short(row.name)} />
          </b>
        }
        find="Find a pass"
        entries={entriesBeside}
        now={String(row.id)}
        onPick={(key) => openRewrite(Number(key))}
      />
    </>
  );
}

function Step() {
  const at = currentStep.value;
  if (!arrived.value || unreadable.value) return null;
  const k = step.value;
  return (
    <>
      <span class="t3">/</span>
      <Choice
        label={`Step ${count(k)} of ${count(stepCount.value)}: choose another`}
        class="btn quiet crumb num"
        button={
          <span class="nw">
            {k === 0 ? "input" : `step ${count(k)}`}{" "}
            <span class="t3">of {count(stepCount.value)}</span>
          </span>
        }
        find="Find a step or rule"
        entries={steps}
        now={String(k)}
        onPick={(key) => {
          if (view.peek().page === "graphs") goStep(Number(key));
          else openRewrite(view.peek().rewrite!, Number(key));
        }}
      />
      {at && (
        <span class="row g4 subject-change">
          <Badge kind="del" sign="−" n={at.removed.length} word="removed" />
          <Badge kind="add" sign="+" n={at.added.length} word="added" />
          <Badge kind="mov" sign="◆" n={at.moved.length} word="moved" />
        </span>
      )}
    </>
  );
}

const steps = (): Entry[] => [
  { key: "0", before: "0", title: "input graph" },
  ...(bundle.peek()?.steps ?? []).map((s, i) => ({
    key: String(i + 1),
    before: String(i + 1),
    title: ruleName(s.rule),
  })),
];

function Badge(p: { kind: "del" | "add" | "mov"; sign: string; n: number; word: string }) {
  if (!p.n) return null;
  const said = `${count(p.n)} ${p.word}`;
  return (
    <span class={`badge num ${p.kind}`} aria-label={said} title={said}>
      {p.sign}
      {count(p.n)}
    </span>
  );
}
