/** The line icons of the page, 16 units square. */
const PATHS = {
  funnel: "M2.5 4h11M5 8h6M7 12h2",
  search: "M11.5 7a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0M10.5 10.5 14 14",
  right: "m6 4 4 4-4 4",
  down: "m4 6 4 4 4-4",
  play: "M5 3.5v9l7-4.5z",
  prev: "m10 4-4 4 4 4",
  first: "m11 4-4 4 4 4M5 4v8",
  back: "m8.5 4-4 4 4 4M12.5 4l-4 4 4 4",
  on: "m3.5 4 4 4-4 4M7.500 4l4 4-4 4",
  last: "m5 4 4 4-4 4M11 4v8",
  export: "M8 2.5v7M5 7l3 3 3-3M3 12.5h10",
  external: "M9.5 3H13v3.5M13 3 7.5 8.5M11 9.5V13H3V5h3.5",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z",
  sun: "M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7",
  fit: "M3 6V3h3M13 6V3h-3M3 10v3h3M13 10v3h-3",
  close: "m4 4 8 8M12 4l-8 8",
  link: "M7 9a2.500 2.500 0 0 0 3.600 0l2-2a2.500 2.500 0 0 0-3.600-3.600l-.8.8M9 7a2.500 2.500 0 0 0-3.600 0l-2 2a2.500 2.500 0 0 0 3.600 3.600l.8-.8",
  copy: "M6 6h7v7H6zM3.5 10V3H10",
  pin: "M6 2.5h4M7 2.5v4L4.500 9.500h7L9 6.500v-4M8 9.500V14",
  menu: "M3 4.5h10M3 8h10M3 11.5h10",
  side: "M3 3.5h10v9H3zM10 3.5v9",
  swap: "M3 5.500h10M10.500 3 13 5.500 10.500 8M13 10.500H3M5.500 8 3 10.500 5.500 13",
  columns: "M3 3.5h10v9H3zM6.300 3.5v9M9.700 3.5v9",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, fill = false }: { name: IconName; fill?: boolean }) {
  return (
    <svg class={fill ? "ic fill" : "ic"} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
