/** The bars of a histogram on a base line: the highest is as high as `height`, and one launch is seen. */
interface BarsProps {
  bins: readonly number[];
  width: number;
  height: number;
  /** Of the lower edges. */
  base?: number;
}

export function Bars({ bins, width, height, base = height }: BarsProps) {
  const most = Math.max(1, ...bins);
  const step = width / Math.max(1, bins.length);
  return (
    <>
      {bins.map((n, i) => {
        const high = Math.max(1, (n / most) * height);
        return n ? (
          <rect key={i} x={i * step} y={base - high} width={Math.max(1, step - 1)} height={high} />
        ) : null;
      })}
    </>
  );
}

interface MarkedBarsProps {
  bins: readonly number[];
  /** Where the mark is, from 0 at the left to 1 at the right. */
  mark: number;
  width: number;
  height: number;
  label: string;
}

/** A small histogram with a mark at one of its values. */
export function MarkedBars({ bins, mark, width, height, label }: MarkedBarsProps) {
  const x = Math.min(width - 1, Math.max(0, mark * width));
  return (
    <svg class="bars" width={width} height={height} role="img" aria-label={label}>
      <Bars bins={bins} width={width} height={height} />
      <path d={`M${x} 0V${height}`} />
    </svg>
  );
}
