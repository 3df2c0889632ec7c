/** A button that moves along a strip of steps. */
import { Icon } from "./Icon";

interface MoveProps {
  icon: "first" | "prev" | "right" | "last";
  /** What it does, and its key in brackets, which is not read aloud. */
  label: string;
  off: boolean;
  quiet?: boolean;
  onClick: () => void;
}

export function MoveButton({ icon, label, off, quiet, onClick }: MoveProps) {
  return (
    <button
      type="button"
      class={quiet ? "btn sm ico quiet" : "btn sm ico"}
      aria-label={label.replace(/ \(.*/, "")}
      title={label}
      disabled={off}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
