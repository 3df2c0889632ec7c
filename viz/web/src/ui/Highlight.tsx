/** A text with the words of a query marked. */
export function Highlight({ text, query }: { text: string; query: string }) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const lower = text.toLowerCase();
  const parts: { text: string; hit: boolean }[] = [];
  for (let at = 0; at < text.length;) {
    const word = words.find((w) => lower.startsWith(w, at));
    const take = word ? word.length : 1;
    const last = parts.at(-1);
    if (last && !word && !last.hit) last.text += text.slice(at, at + take);
    else parts.push({ text: text.slice(at, at + take), hit: word !== undefined });
    at += take;
  }
  return <>{parts.map((p, i) => (p.hit ? <mark key={i}>{p.text}</mark> : p.text))}</>;
}
