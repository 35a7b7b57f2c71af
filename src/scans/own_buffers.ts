/**
 * Returns the unshared buffers in plain data, which are then transferred instead of copied. Empty ones are
 * left out, as several results may share them.
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
