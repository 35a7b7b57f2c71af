/**
 * Returns the unshared buffers in plain data, which are transferred instead of copied. Empty ones are
 * left out: they may be constants that several results use.
 */
export function ownBuffers(data: unknown, found = new Set<ArrayBuffer>()): Set<ArrayBuffer> {
  if (ArrayBuffer.isView(data)) {
    const { buffer } = data;
    if (buffer instanceof ArrayBuffer && buffer.byteLength > 0) found.add(buffer);
  } else if (Array.isArray(data)) {
    for (const one of data) if (typeof one === "object") ownBuffers(one, found);
  } else if (typeof data === "object" && data !== null && !(data instanceof Map)) {
    for (const one of Object.values(data)) ownBuffers(one, found);
  }
  return found;
}
