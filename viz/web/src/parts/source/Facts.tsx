/** The line above a text of the workbench: as many facts as it has room for; and all of them as a list. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { plural } from "../../state/format";
import type { Artifact } from "../../data/messages/kernel";
import { Menu } from "../../ui/over/Menu";
import { factText, tellingFacts } from "./facts";

/** Room for the button that has the rest. */
const REST = 64;
const GAP = 4;

export function Facts({ artifact }: { artifact: Artifact }) {
  const box = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(0);
  const facts = tellingFacts(artifact.facts).map(factText);
  const dull = artifact.facts.length - facts.length;
  useLayoutEffect(() => {
    const el = box.current!;
    const fit = (): void => {
      const badges = [...el.querySelectorAll<HTMLElement>("[data-fact]")];
      let left = el.clientWidth - 24;
      let n = 0;
      for (const [i, badge] of badges.entries()) {
        left -= badge.offsetWidth + GAP;
        if (left < (i === badges.length - 1 && !dull ? 0 : REST)) break;
        n += 1;
      }
      setRoom(n);
    };
    const watch = new ResizeObserver(fit);
    watch.observe(el);
    fit();
    return () => watch.disconnect();
  }, [artifact]);
  const rest = artifact.facts.length - Math.min(room, facts.length);
  return (
    <div class="cb" ref={box}>
      {facts.map((text, i) => (
        <span class={i < room ? "badge num" : "badge num unfit"} data-fact key={text}>
          {text}
        </span>
      ))}
      {rest > 0 && (
        <Menu
          label={plural(rest, "more statistic")}
          class="badge more num"
          button={rest < artifact.facts.length ? `+${rest} more` : plural(rest, "fact")}
        >
          {() => <FactList artifact={artifact} />}
        </Menu>
      )}
    </div>
  );
}

/** All that a compiler says of a text. */
export function FactList({ artifact }: { artifact: Artifact }) {
  return (
    <div class="pop narrow-pop">
      <b>Compiler statistics</b>
      <dl class="kv num">
        {artifact.facts.map((f) => (
          <>
            <dt>{f.name}</dt>
            <dd>{f.value}</dd>
          </>
        ))}
      </dl>
    </div>
  );
}
