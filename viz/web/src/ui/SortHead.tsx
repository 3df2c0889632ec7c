/** The head of a table that is sorted by a column; `order` is its key, "-" for descending. */

export interface Column<T> {
  key: string;
  name: string;
  value: (item: T) => string | number;
  /** Numbers stand on the right. */
  right?: boolean;
  /** Why a cell says what it says. */
  title?: string;
}

interface SortHeadProps {
  columns: readonly { key: string; name: string; right?: boolean; title?: string }[];
  order: string;
  onOrder: (order: string) => void;
}

export function SortHead({ columns, order, onOrder }: SortHeadProps) {
  return (
    <div class="heads" role="toolbar" aria-label="Sort by">
      {columns.map((c) => {
        const way = order === c.key ? "▲" : order === `-${c.key}` ? "▼" : "";
        return (
          <button
            type="button"
            key={c.key}
            class={c.right ? "r" : undefined}
            title={c.title}
            aria-pressed={way !== ""}
            aria-label={`${c.name}${way === "▲" ? ", ascending" : way ? ", descending" : ""}`}
            onClick={() => onOrder(nextOrder(order, c.key, c.right === true))}
          >
            {c.right && <Way way={way} />}
            {c.name}
            {!c.right && <Way way={way} />}
          </button>
        );
      })}
    </div>
  );
}

function Way({ way }: { way: string }) {
  return way ? (
    <span class="way" aria-hidden="true">
      {way}
    </span>
  ) : null;
}

/** Numbers begin with the largest, names with the first; a second time turns it round. */
export function nextOrder(order: string, key: string, large: boolean): string {
  if (order === key) return `-${key}`;
  if (order === `-${key}`) return key;
  return large ? `-${key}` : key;
}

/** `items` by the column that `order` names; ties keep their order, as without a column. */
export function sorted<T>(
  items: readonly T[],
  columns: readonly Column<T>[],
  order: string,
): readonly T[] {
  const down = order.startsWith("-");
  const column = columns.find((c) => c.key === (down ? order.slice(1) : order));
  if (!column) return items;
  const by = (a: T, z: T): number => {
    const x = column.value(a);
    const y = column.value(z);
    if (typeof x === "number" && typeof y === "number") return x - y;
    return String(x).localeCompare(String(y), "en");
  };
  return [...items].sort((a, z) => (down ? by(z, a) : by(a, z)));
}
