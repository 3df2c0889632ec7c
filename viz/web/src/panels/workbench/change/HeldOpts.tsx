/** The two programs of a kernel that an exported file has: as the compiler chose, and without optimizations. */
import { goWorkbench } from "../data/link";
import { choices, edited } from "../data/where";

const WAYS = [
  { opts: null, title: "Chosen by the compiler" },
  { opts: "", title: "None: one thread per element" },
] as const;

export function HeldOpts() {
  const fixed = edited.value !== null;
  return (
    <section class="card wb-opts" aria-label="Optimizations">
      <div class="ph">
        <h3>Optimizations</h3>
      </div>
      {fixed && <p class="wb-note">The edited text was made with these. Discard it to change them.</p>}
      <ul class="wb-list" role="radiogroup" aria-label="Optimizations of the changed kernel">
        {WAYS.map(({ opts, title }) => (
          <li key={title}>
            <label class="wb-opt held">
              <input
                type="radio"
                name="held-opts"
                checked={choices.value.opts === opts}
                disabled={fixed}
                onChange={() => goWorkbench({ opts })}
              />
              <span class="el">{title}</span>
            </label>
          </li>
        ))}
      </ul>
      <p class="wb-note">Others need the compiler: open this file with uopviz.</p>
    </section>
  );
}
