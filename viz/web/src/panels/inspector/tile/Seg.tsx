/** A choice of one of a few, as buttons side by side. */
export function Seg<T extends string>({
  label,
  value,
  of,
  onChange,
}: {
  label: string;
  value: T;
  of: readonly (readonly [value: T, name: string])[];
  onChange: (value: T) => void;
}) {
  return (
    <span class="seg" role="group" aria-label={label}>
      {of.map(([key, name]) => (
        <button type="button" key={key} aria-pressed={key === value} onClick={() => onChange(key)}>
          {name}
        </button>
      ))}
    </span>
  );
}
