/** The canvas of a strip. */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { themeVersion } from "../../state/theme";
import { Backdrop, readPalette } from "./strip";

/** A canvas, its size, followed, what of it is kept, and the colours, read when they change. */
export function useStrip() {
  const ref = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const kept = useMemo(() => new Backdrop(), []);
  useLayoutEffect(() => {
    const el = ref.current!;
    const watch = new ResizeObserver(() =>
      setSize({ width: el.clientWidth, height: el.clientHeight }),
    );
    watch.observe(el);
    return () => watch.disconnect();
  }, []);
  const palette = useMemo(() => readPalette(document.documentElement), [themeVersion.value]);
  return { canvas: ref, kept, palette, ...size };
}
