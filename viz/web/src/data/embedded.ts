/**
 * The back end of an exported file: every answer lies in the page itself. An entry is a gzipped JSON
 * array in base64, keyed by the API paths that its items answer, with spaces between them. Never
 * touches the network.
 */
import { DataError, questions, type Backend } from "./backend";
import { searchLocally } from "./search";

const BLOCKS = 'script[type="application/json"][id^="uopviz-data"]';

interface Entry {
  packed: string;
  /** Unpacked when it is first asked for. */
  items: Promise<unknown[]> | null;
}

/** The embedded back end, or null if this page carries no data. */
export function embeddedBackend(doc: Document = document): Backend | null {
  const blocks = doc.querySelectorAll(BLOCKS);
  if (!blocks.length) return null;
  const places = new Map<string, { entry: Entry; at: number }>();
  for (const block of blocks)
    for (const [paths, packed] of Object.entries(
      JSON.parse(block.textContent || "{}") as Record<string, unknown>,
    )) {
      if (typeof packed !== "string") continue;
      const entry: Entry = { packed, items: null };
      paths.split(" ").forEach((path, at) => places.set(path, { entry, at }));
    }

  async function ask(path: string): Promise<unknown> {
    const place = places.get(path);
    if (!place)
      throw new DataError(
        "Not included in this file",
        path,
        "Export again with this kernel, or open the trace itself with `uopviz open`.",
      );
    const items = await (place.entry.items ??= unpack(place.entry.packed));
    return items[place.at];
  }

  const held = questions(ask);
  const backend: Backend = {
    ...held,
    run: async () => ({ ...(await held.run()), live: false, editable: [] }),
    tree: (since) => (since ? Promise.resolve({ rows: [], total: since }) : held.tree(0)),
    search: async (query) => searchLocally(query, (await held.tree(0)).rows, await held.rules()),
    server: null,
  };
  return backend;
}

/** base64 -> gzip -> JSON, with the browser's own decompressor. */
async function unpack(packed: string): Promise<unknown[]> {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Response(bytes).body!.pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text()) as unknown[];
}
