// The module as it is shipped, packed by zstd, which makes it a quarter smaller than gzip, which browsers unpack by themselves.
import { Decompress } from "fzstd";

const kMagic = [0x28, 0xb5, 0x2f, 0xfd];

/** What is packed, as it comes, unpacked; of other first bytes, which a server may have unpacked, as it is. */
export function unpacking(): TransformStream<Uint8Array, Uint8Array> {
  let unpack: Decompress | null | undefined;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, out) {
      if (unpack === undefined) {
        const isPacked = kMagic.every((byte, i) => chunk[i] === byte);
        unpack = isPacked ? new Decompress((piece) => out.enqueue(piece)) : null;
      }
      if (unpack) unpack.push(chunk);
      else out.enqueue(chunk);
    },
  });
}

/** The module at `address`, compiled while it comes. */
export async function fetchModule(address: string): Promise<WebAssembly.Module> {
  const response = await fetch(address);
  if (!response.ok || !response.body) throw new Error(`${address}: status ${response.status}`);
  const bytes = response.body.pipeThrough(unpacking());
  return WebAssembly.compileStreaming(new Response(bytes, { headers: { "Content-Type": "application/wasm" } }));
}
