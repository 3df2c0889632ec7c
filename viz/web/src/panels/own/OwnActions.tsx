/** A button for each action of the compiler's own, and what it says of the kernel. */
import { useEffect, useState } from "preact/hooks";
import { asProblem, isAbort } from "../../data/backend";
import type { ApiProblem } from "../../data/messages/job";
import { Failed } from "../../parts/Failed";
import { data } from "../../state/actions";
import { short } from "../../state/format";
import { currentKernel, run } from "../../state/state";
import { Menu } from "../../ui/over/Menu";

export function OwnActions() {
  const kernel = currentKernel.value;
  if (!kernel || !data().server) return null;
  return run.value?.dialect?.own.map(({ name, title }) => (
    <Menu key={name} label={short(title, 60)} class="btn" button={short(title, 60)}>
      {() => <Said kernel={kernel.id} action={name} />}
    </Menu>
  ));
}

function Said({ kernel, action }: { kernel: number; action: string }) {
  const [text, setText] = useState<string | null>(null);
  const [attempt, setAttempt] = useState(0);
  const [error, setError] = useState<ApiProblem | null>(null);
  useEffect(() => {
    const mine = new AbortController();
    data()
      .acted(kernel, action, mine.signal)
      .then((found) => setText(found.text))
      .catch((thrown: unknown) => {
        if (!isAbort(thrown)) setError(asProblem(thrown, action));
      });
    return () => mine.abort();
  }, [kernel, action, attempt]);
  if (error)
    return (
      <Failed
        problem={error}
        retry={() => {
          setError(null);
          setAttempt(attempt + 1);
        }}
      />
    );
  return (
    <pre class="mono" role="status">
      {text ?? "\u2026"}
    </pre>
  );
}
