/** The sources as one line each: the lit one. */
import { clip } from "../../state/format";
import { languageOf, pieces, startState } from "../../ui/code/languages";
import { kindName, kindOf } from "../kernel/columns";
import { Lit, nameOf } from "./Column";
import type { SourcesModel } from "./model";

const LONGEST = 400;
const CLASSES = { keyword: "k", number: "nn", comment: "cm", string: "cm", label: "b" };

export function Strip({ model }: { model: SourcesModel }) {
  const columns = model.columns();
  const isWhole = columns.every((id) => model.artifact(id) && !model.artifact(id)!.error);
  if (isWhole && !model.linked.isAny.value)
    return (
      <div class="src-cols strip">
        <section class="one t3">
          <span class="el">Select a node, or point at one: the lines that it became stand here.</span>
        </section>
      </div>
    );
  return (
    <div class="src-cols strip">
      {columns.map((id) => (
        <OneLine key={id} model={model} id={id} />
      ))}
    </div>
  );
}

/** One source: its lit line, with the way to the others. */
export function OneLine({ model, id }: { model: SourcesModel; id: string }) {
  const { linked, Progress } = model;
  const artifact = model.artifact(id);
  const shown = artifact && !artifact.error ? artifact : null;
  const line = shown ? linked.current(id, linked.litIn(shown).lines) : null;
  const number = line === null ? "" : (model.numbers?.(id)?.[line] ?? String(line + 1));
  return (
    <section class="one" aria-label={nameOf(id)}>
      {shown && line !== null ? (
        <>
          <i>{number}</i>
          <code class="el">
            {pieces(
              languageOf(shown.kind),
              clip((shown.text.split("\n")[line] ?? "").trim(), LONGEST).text,
              startState(),
            ).map((p, i) => (
              <span key={i} class={p.kind ? CLASSES[p.kind] : undefined}>
                {p.text}
              </span>
            ))}
          </code>
        </>
      ) : (
        <span class="t3 el">{kindName(kindOf(id))}</span>
      )}
      <span class="sp" />
      {model.isComing(id) ? (
        <Progress id={id} />
      ) : shown ? (
        <Lit model={model} id={id} />
      ) : (
        <Make model={model} id={id} />
      )}
    </section>
  );
}

/** The way to a text that was not recorded; nothing where it cannot be made. */
function Make({ model, id }: { model: SourcesModel; id: string }) {
  const compile = model.compile(id);
  if (!compile) return null;
  return (
    <button type="button" class="link small" aria-label={`Compile ${nameOf(id)}`} onClick={compile}>
      Compile
    </button>
  );
}
