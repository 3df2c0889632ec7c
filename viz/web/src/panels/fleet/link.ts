/** Which runs are listed, and which figure is drawn, as the panel's part of a link. */
import { go } from "../../state/actions";
import { LinkPart } from "../../state/link/part";

export interface FleetLink {
  /** Text that the listed runs have. */
  query: string;
  /** Column that sorts, "-" in front for descending. */
  sort: string;
  /** The figure over the commits, and the rule, pass, kernel or program that it is of; "": the
   * costliest rule's. */
  metric: string;
  of: string;
}

const LONGEST = 200;
const NAME = /^[^\n]{1,200}$/;

export const fleetLink = new LinkPart<FleetLink>({
  first: { query: "", sort: "-time", metric: "rule-time", of: "" },
  read: (q) => ({
    query: q.text("fq", LONGEST),
    sort: q.matching("fo", /^-?[a-z]{1,16}$/) ?? "-time",
    metric: q.matching("fm", /^[a-z-]{1,32}$/) ?? "rule-time",
    of: q.matching("fn", NAME) ?? "",
  }),
  write(link, put) {
    put("fq", link.query);
    put("fo", link.sort !== "-time" && link.sort);
    put("fm", link.metric !== "rule-time" && link.metric);
    put("fn", link.of);
  },
  isJump: (a, b) => a.metric !== b.metric || a.of !== b.of,
});

/** Lists other runs, or draws another figure. */
export function show(change: Partial<FleetLink>): void {
  const query = change.query?.slice(0, LONGEST);
  go({}, "auto", fleetLink.with(query === undefined ? change : { ...change, query }));
}
