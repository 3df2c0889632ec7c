/** The bar of a compilation, and the way to end it where there is one. */
export function Compilation({
  target,
  cancel,
}: {
  target: string;
  cancel: ((target: string) => void) | null;
}) {
  return (
    <>
      <span class="progress static">
        <i class="any" />
      </span>
      {cancel && (
        <button
          type="button"
          class="btn sm"
          aria-label={`Cancel compiling for ${target}`}
          onClick={() => cancel(target)}
        >
          Cancel
        </button>
      )}
    </>
  );
}
