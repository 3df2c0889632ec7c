/** How the kernels of the overview are listed, as its part of a link. */
import { go } from "../../../state/actions";
import { LinkPart } from "../../../state/link/part";

interface OverviewLink {
  /** Column that sorts, "-" in front for descending; "" as the answer has them: heaviest first. */
  order: string;
  /** All kernels, not the first dozen. */
  all: boolean;
}

export const overviewLink = new LinkPart<OverviewLink>({
  first: { order: "", all: false },
  read: (q) => ({
    order: q.matching("ko", /^-?[a-z]{1,16}$/) ?? "",
    all: q.matching("ka", /^1$/) !== null,
  }),
  write(link, put) {
    put("ko", link.order);
    put("ka", link.all && 1);
  },
});

/** Lists the kernels in another way, or all of them. */
export function list(change: Partial<OverviewLink>): void {
  go({}, "replace", overviewLink.with(change));
}
