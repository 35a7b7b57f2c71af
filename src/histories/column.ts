/** Numbers of one kind, one an event: as narrow as the widest of them needs. */
export type IntegerColumn = Uint8Array | Uint16Array | Int8Array | Int16Array | Int32Array;
export type Column = IntegerColumn | Uint32Array | Float64Array;

type ColumnClass = { new (buffer: ArrayBuffer, offset: number): Column };

/** What the first byte of a stored column stands for. Append only. */
const CLASSES: readonly ColumnClass[] = [
  Uint8Array,
  Uint16Array,
  Int8Array,
  Int16Array,
  Int32Array,
  Uint32Array,
  Float64Array,
];
/** In front of the numbers, which must lie at a multiple of their width. */
const HEADER_BYTES = 8;

/** The narrowest column that holds all of these numbers. */
export function narrowed(values: Int32Array): IntegerColumn {
  let min = 0;
  let max = 0;
  for (const value of values) {
    if (value < min) min = value;
    else if (value > max) max = value;
  }
  if (min >= 0 && max <= 0xff) return Uint8Array.from(values);
  if (min >= 0 && max <= 0xffff) return Uint16Array.from(values);
  if (min >= -0x80 && max <= 0x7f) return Int8Array.from(values);
  if (min >= -0x8000 && max <= 0x7fff) return Int16Array.from(values);
  return values;
}

/** As base64, with its kind in front. Numbers lie as the processor holds them: the lowest byte first. */
export function columnText(column: Column): string {
  const bytes = new Uint8Array(HEADER_BYTES + column.byteLength);
  bytes[0] = CLASSES.indexOf(column.constructor as unknown as ColumnClass);
  bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), HEADER_BYTES);
  return bytes.toBase64();
}

/** The column that `columnText` wrote; base64 may be in lines. */
export function columnOf(text: string): Column {
  const { buffer } = Uint8Array.fromBase64(text);
  const Class = CLASSES[new Uint8Array(buffer)[0]!];
  if (Class === undefined) throw new Error("A column of a history is of an unknown kind");
  return new Class(buffer as ArrayBuffer, HEADER_BYTES);
}
