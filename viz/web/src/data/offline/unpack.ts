/** base64 -> gzip -> JSON, with the browser's own decompressor: an entry of an exported file. */
export async function unpack(packed: string): Promise<unknown[]> {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Response(bytes).body!.pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text()) as unknown[];
}
