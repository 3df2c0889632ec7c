/** Figures of packed runs in words. Pure. */
import { count, micros } from "../../state/format";

/** "rule-time" as words. */
export function words(metric: string): string {
  const [first, ...rest] = metric.replace(/^(rule|pass)-/, "").split("-");
  return [first![0]!.toUpperCase() + first!.slice(1), ...rest].join(" ");
}

/** A value of a metric with its unit. */
export function said(metric: string, value: number): string {
  if (metric === "launch-time") return micros(value / 1000);
  return metric.endsWith("-time") ? micros(value) : count(Math.round(value));
}
