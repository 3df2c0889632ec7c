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
