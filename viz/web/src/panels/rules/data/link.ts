/** Which rules are listed and how, as the panel's part of a link. */
import { go } from "../../../state/actions";
import { LinkPart } from "../../../state/link/part";

export interface RulesLink {
  /** Column that sorts, "-" in front for descending; "": the costliest rules come first. */
  sort: string;
  /** A line per rule and pass, not per rule. */
  perPass: boolean;
  /** Only what was done in passes of this name. */
  pass: string | null;
  /** Those that never matched. */
  never: boolean;
  query: string;
  /** The rule whose page is open in place of the list; null: the list. */
  of: number | null;
  /** On the page of a rule: its passes by the time of its tries, not those in which it matched. */
  byTime: boolean;
  /** The pass whose rules are listed alone; null: those of the run. */
  inPass: number | null;
}

const PASS = /^[^\n]{1,200}$/;
const SORT = /^-?[a-zA-Z]{1,16}$/;
const LONGEST_QUERY = 200;

export const rulesLink = new LinkPart<RulesLink>({
  first: {
    ...{ sort: "", perPass: false, pass: null, never: false, query: "" },
    ...{ of: null, byTime: false, inPass: null },
  },
  read: (q) => ({
    sort: q.matching("o", SORT) ?? "",
    perPass: q.matching("by", /^pass$/) !== null,
    pass: q.matching("in", PASS),
    never: q.matching("only", /^never$/) !== null,
    query: q.text("q", LONGEST_QUERY),
    of: q.natural("ru"),
    byTime: q.matching("rt", /^time$/) !== null,
    inPass: q.natural("rp"),
  }),
  write(link, put) {
    put("o", link.sort);
    put("by", link.perPass && "pass");
    put("in", link.pass);
    put("only", link.never && "never");
    put("q", link.query);
    put("ru", link.of);
    put("rt", link.byTime && "time");
    put("rp", link.inPass);
  },
  isJump: (a, b) => a.of !== b.of || a.inPass !== b.inPass,
});

/** Lists other rules, or in another way; typing and sorting leave no entries in the history. */
export function list(change: Partial<RulesLink>): void {
  const query = change.query?.slice(0, LONGEST_QUERY);
  go({}, "replace", rulesLink.with(query === undefined ? change : { ...change, query }));
}

/** Opens the page of a rule, or with null the list again. */
export function openRule(of: number | null): void {
  go({ page: "rules" }, "auto", rulesLink.with({ of }));
}

/** Lists the rules of one pass alone, or with null those of the run. */
export function openPassRules(inPass: number | null): void {
  go({ page: "rules" }, "auto", rulesLink.with({ of: null, inPass }));
}
