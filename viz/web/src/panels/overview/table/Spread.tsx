/** How times are spread, small. */
import type { Spread } from "../../../data/messages/overview";
import { micros, plural } from "../../../state/format";

interface SpreadProps {
  spread: Spread;
  width: number;
  height: number;
}

export function SpreadBars({ spread, width, height }: SpreadProps) {
  const { bins, median, from, to } = spread;
  const most = Math.max(1, ...bins);
  const step = width / Math.max(1, bins.length);
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
      {bins.map((n, i) =>
        n ? (
          <rect
            key={i}
            x={i * step}
            y={height - Math.max(1, (n / most) * height)}
            width={Math.max(1, step - 1)}
            height={Math.max(1, (n / most) * height)}
          />
        ) : null,
      )}
      <path d={`M${x} 0V${height}`} />
    </svg>
  );
}
