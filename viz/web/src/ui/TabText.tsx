/** The words of a tab: as wide as when they are bold, so that choosing a tab moves no other. */
export function TabText({ text }: { text: string }) {
  return (
    <span class="tabtext" data-text={text}>
      {text}
    </span>
  );
}
