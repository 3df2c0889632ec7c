import { restored } from "./dense";

/** base64 -> gzip -> JSON, with the browser's own decompressor: the answers of an entry of an exported
 * file. */
export async function unpack(packed: string): Promise<unknown[]> {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Response(bytes).body!.pipeThrough(new DecompressionStream("gzip"));
  const answers = JSON.parse(await new Response(stream).text()) as unknown[];
  return answers.map(restored);
}
