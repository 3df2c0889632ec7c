/** Pinned subjects, side by side; a click goes back to where each was pinned. */
import { go, openNode } from "../../state/actions";
import { short } from "../../state/format";
import { Icon } from "../../ui/Icon";
import { Clipped } from "../../ui/code/Text";
import { pins, unpin, type Pin } from "./pinned";

export function Pins() {
  if (!pins.value.length) return null;
  return (
    <div class="pins" role="list" aria-label="Pinned">
      {pins.value.map((p) => (
        <Card key={p.key} p={p} />
      ))}
    </div>
  );
}

function Card({ p }: { p: Pin }) {
  const back = (): void => {
    if (p.uid !== null) openNode(p.rewrite, p.step, p.uid);
    else go({ page: "graphs", rewrite: p.rewrite, step: p.step, slot: null, uid: null }, "push");
  };
  return (
    <section class="pin" role="listitem" aria-label={`Pinned ${short(p.title)}`}>
      <div class="row">
        <button type="button" class="link mono b el" title="Open" onClick={back}>
          {short(p.title, 60)}
        </button>
        <span class="sp" />
        <button
          type="button"
          class="btn sm ico quiet"
          aria-label={`Unpin ${short(p.title)}`}
          title="Unpin"
          onClick={() => unpin(p.key)}
        >
          <Icon name="close" />
        </button>
      </div>
      <div class="t3 small el">{short(p.where)}</div>
      <dl>
        {p.facts.map(([name, text]) => (
          <>
            <dt class="t3 small">{short(name, 24)}</dt>
            <dd class="mono">
              <Clipped text={text} limit={120} />
            </dd>
          </>
        ))}
      </dl>
    </section>
  );
}
