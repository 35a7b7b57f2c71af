/**
 * An aggregate in SQL: whole numbers of 32 bits of all rows in one text, those of a row side by side.
 * A row of its own for each would cost a read many times as much.
 */
export function packInts(columns: readonly string[]): string {
  return `encode(string_agg(${
    columns.map((column) => `int4send(${column})`).join(" || ")
  }, ''::bytea), 'base64')`;
}

/** The numbers that `packInts` packed; none of null. */
export function unpackInts(text: string | null): Int32Array {
  const { buffer, byteLength } = Uint8Array.fromBase64(text ?? "");
  const view = new DataView(buffer);
  const numbers = new Int32Array(byteLength / 4);
  for (let i = 0; i < numbers.length; i++) numbers[i] = view.getInt32(4 * i);
  return numbers;
}
