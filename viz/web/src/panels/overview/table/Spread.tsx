/** How times are spread, small. */
import type { Spread } from "../../../data/messages/overview";
import { micros, plural } from "../../../state/format";
import { MarkedBars } from "../../../ui/Bars";

interface SpreadProps {
  spread: Spread;
  width: number;
  height: number;
}

export function SpreadBars({ spread, width, height }: SpreadProps) {
  const { bins, median, from, to } = spread;
  const count = bins.reduce((sum, n) => sum + n, 0) + spread.beyond;
  return (
    <MarkedBars
      bins={bins}
      mark={to > from ? (median - from) / (to - from) : 0}
      width={width}
      height={height}
      label={`${plural(count, "launch", "launches")}: fastest ${micros(spread.low)}, median ${micros(median)}, p90 ${micros(spread.p90)}, slowest ${micros(spread.high)}`}
    />
  );
}
