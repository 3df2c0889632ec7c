/** The line below a source's title: marked lines, then as many facts as it has room for. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { count, plural } from "../../state/format";
import type { Artifact } from "../../data/messages/kernel";
import { Menu } from "../../ui/over/Menu";
import { factText, tellingFacts } from "./facts";

const TOO_MANY =
  "The remaining lines are less closely related. Highlighting more than a third of the text " +
  "would not be informative";
/** Room for the button that has the rest. */
const REST = 64;
const GAP = 4;

export function Facts({ artifact, lit, cut }: { artifact: Artifact; lit: number; cut: number }) {
  const box = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(0);
  const facts = tellingFacts(artifact.facts).map(factText);
  const dull = artifact.facts.length - facts.length;
  useLayoutEffect(() => {
    const el = box.current!;
    const fit = (): void => {
      const badges = [...el.querySelectorAll<HTMLElement>("[data-fact]")];
      const marks = el.querySelector<HTMLElement>("[data-marks]");
      let left = el.clientWidth - 24 - (marks ? marks.offsetWidth + GAP : 0);
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
  }, [artifact, lit, cut]);
  const rest = artifact.facts.length - Math.min(room, facts.length);
  return (
    <div class="cb" ref={box}>
      {(lit > 0 || cut > 0) && (
        <span class="badge ac num" data-marks title={cut ? TOO_MANY : undefined}>
          {cut ? `${count(lit)} of ${plural(lit + cut, "line")}` : plural(lit, "line")}
        </span>
      )}
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
          {() => (
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
          )}
        </Menu>
      )}
    </div>
  );
}
