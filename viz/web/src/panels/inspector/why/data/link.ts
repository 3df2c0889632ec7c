/** Which rule is asked about, as the panel's part of a link. */
import { go } from "../../../../state/actions";
import { LinkPart } from "../../../../state/link/part";

interface WhyLink {
  /** The rule that did not fire; null: none is chosen. */
  rule: number | null;
  /** The nodes where it nearly did are listed. */
  near: boolean;
}

export const whyLink = new LinkPart<WhyLink>({
  first: { rule: null, near: false },
  read: (q) => ({ rule: q.natural("why"), near: q.matching("near", /^1$/) !== null }),
  write(link, put) {
    put("why", link.rule);
    put("near", link.near && 1);
  },
});

/** Asks about another rule, or shows more of the answer. */
export function ask(change: Partial<WhyLink>): void {
  go({ page: "graphs", tab: "why" }, "replace", whyLink.with(change));
}
