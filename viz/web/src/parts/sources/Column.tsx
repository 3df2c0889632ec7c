/** One source among others: its name with what is known of it, its lit lines, its text. */
import { kindName, kindOf, targetOf } from "../kernel/columns";
import { FactList } from "../source/Facts";
import { Menu } from "../../ui/over/Menu";
import { CopyButton } from "../../ui/code/copy";
import type { SourcesModel } from "./model";
import { Stepper } from "./Stepper";

/** "PTX for sm_90" */
export function nameOf(key: string): string {
  const name = kindName(kindOf(key));
  return targetOf(key) ? `${name} for ${targetOf(key)}` : name;
}

export function Column({ model, id }: { model: SourcesModel; id: string }) {
  const artifact = model.artifact(id);
  const shown = artifact && !artifact.error ? artifact : null;
  const { Text, Missing, Notes, Buttons, Progress } = model;
  const target = targetOf(id);
  return (
    <section class="col" aria-label={nameOf(id)}>
      <div class="ch">
        {shown?.facts.length ? (
          <Menu
            label={`What the compiler says of ${nameOf(id)}`}
            class="link plain name el"
            title="Compiler statistics"
            button={kindName(kindOf(id))}
          >
            {() => <FactList artifact={shown} />}
          </Menu>
        ) : (
          <span class="name el">{kindName(kindOf(id))}</span>
        )}
        {target && <span class="t3 mono el target">{target}</span>}
        {Notes && <Notes id={id} artifact={artifact} />}
        <span class="sp" />
        {shown && <Lit model={model} id={id} />}
        {model.isComing(id) && <Progress id={id} />}
        {shown && Buttons && <Buttons id={id} artifact={shown} />}
        {shown && !Buttons && (
          <CopyButton text={shown.text} what={`${kindName(shown.kind)} source`} />
        )}
      </div>
      {shown ? <Text artifact={shown} /> : <Missing id={id} artifact={artifact} />}
    </section>
  );
}

/** Which of its lit lines the reader is at; nothing while nothing is lit anywhere. */
export function Lit({
  model: { linked, artifact: find },
  id,
}: {
  model: SourcesModel;
  id: string;
}) {
  const artifact = find(id);
  if (!artifact || !linked.isAny.value) return null;
  const { lines, cut } = linked.litIn(artifact);
  return <Stepper linked={linked} column={id} name={nameOf(id)} lines={lines} cut={cut} />;
}
