/** How times are spread, small. */
import type { Spread } from "../../../data/messages/overview";
import { micros, plural } from "../../../state/format";
import { Bars } from "../../../ui/Bars";

interface SpreadProps {
  spread: Spread;
  width: number;
  height: number;
}

export function SpreadBars({ spread, width, height }: SpreadProps) {
  const { bins, median, from, to } = spread;
  const share = to > from ? (median - from) / (to - from) : 0;
  const x = Math.min(width - 1, Math.max(0, share * width));
  const count = bins.reduce((sum, n) => sum + n, 0) + spread.beyond;
  return (
    <svg
      class="bars"
      width={width}
      height={height}
      role="img"
      aria-label={`${plural(count, "launch", "launches")}: fastest ${micros(spread.low)}, median ${micros(median)}, p90 ${micros(spread.p90)}, slowest ${micros(spread.high)}`}
    >
      <Bars bins={bins} width={width} height={height} />
      <path d={`M${x} 0V${height}`} />
    </svg>
  );
}
