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

const KINDS = [
  Uint8Array,
  Int8Array,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  Float64Array,
];

/**
 * Detaches one array of each kind, for a worker that transfers buffers: call it first. When the first array of a kind
 * is detached, V8 discards all compiled code that reads arrays of this kind.
 */
export function detachEachKind(): void {
  for (const Kind of KINDS) new Kind(1).buffer.transfer();
}
