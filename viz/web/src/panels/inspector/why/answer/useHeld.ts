/** The last answer stays in view until the next one is there, so that nothing jumps meanwhile. */
import { useRef } from "preact/hooks";

/** `of`: what it is about; of something else nothing is kept. */
export function useHeld<T>(
  now: T | null,
  of: number | string | null,
): { value: T | null; isOld: boolean } {
  const kept = useRef<{ of: number | string | null; value: T } | null>(null);
  if (now !== null) kept.current = { of, value: now };
  else if (kept.current && kept.current.of !== of) kept.current = null;
  return { value: kept.current?.value ?? null, isOld: now === null && kept.current !== null };
}
