/** The texts of the selected kernel in both runs, as wide as the page. */
import type { ComponentChildren } from "preact";
import { Failed } from "../../../parts/Failed";
import { SourcesView } from "../../../parts/sources/SourcesView";
import { Icon } from "../../../ui/Icon";
import { differenceAt, goDifference } from "../data/lines";
import { scope, watchedScope } from "../data/store";
import { differencesOf, shown } from "../data/texts";
import { compareLink, show } from "../data/link";
import { namesOf } from "../overview/Kernels";
import { model } from "./model";

export function Sources() {
  const chosen = scope.value;
  if (!chosen) return null;
  return (
    <div class="cmp-source" role="region" aria-label={`Sources of ${namesOf(chosen)}`}>
      <SourcesView model={model} size="full" tools={<Tools />}>
        {instead()}
      </SourcesView>
    </div>
  );
}

function instead(): ComponentChildren {
  const problem = watchedScope.error.value;
  if (problem && !watchedScope.answer.value)
    return <Failed problem={problem} retry={watchedScope.retry} />;
  if (scope.value?.kind === "other") return <div class="state">These passes belong to no kernel.</div>;
  if (!watchedScope.answer.value) return <div class="state">Loading the texts</div>;
  if (shown.value.length) return null;
  return (
    <div class="state">
      {model.offers().length
        ? "No source is selected. Select one above."
        : `Neither run recorded a text of this ${scope.value?.kind ?? "kernel"}.`}
    </div>
  );
}

/** The first text with differences, and where they are. */
const differing = (): readonly ReadonlyMap<string, number>[] =>
  [...differencesOf.value.values()].find((all) => all.length > 0) ?? [];

/** Shows the next or previous difference of the texts; false where they have none. */
export function nextDifferenceOfText(way: 1 | -1): boolean {
  const all = differing();
  if (all.length) goDifference(all, way);
  return all.length > 0;
}

function Tools() {
  const { unified } = compareLink.value;
  const all = differing();
  const at = differenceAt(all);
  return (
    <>
      {all.length > 0 && (
        <span class="stepper" role="group" aria-label="Differences">
          <button
            type="button"
            class="btn sm ico quiet"
            aria-label="Previous difference"
            title="Previous difference (Shift D)"
            onClick={() => nextDifferenceOfText(-1)}
          >
            <Icon name="prev" />
          </button>
          <span class="num nw" aria-live="polite">
            {at < 0 ? "" : `${at + 1} of `}
            {all.length} {all.length === 1 ? "difference" : "differences"}
          </span>
          <button
            type="button"
            class="btn sm ico quiet"
            aria-label="Next difference"
            title="Next difference (D)"
            onClick={() => nextDifferenceOfText(1)}
          >
            <Icon name="right" />
          </button>
        </span>
      )}
      <span class="seg" role="group" aria-label="Layout of the texts">
        {[true, false].map((one) => (
          <button
            type="button"
            key={String(one)}
            aria-pressed={unified === one}
            title={one ? "A and B in one column" : "A and B beside each other"}
            onClick={() => show({ unified: one, sources: null }, "replace")}
          >
            {one ? "One column" : "Side by side"}
          </button>
        ))}
      </span>
    </>
  );
}
