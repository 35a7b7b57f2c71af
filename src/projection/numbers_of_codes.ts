/** Returns, for each event, the number that its code has in `numbers`. */
export function numbersOfCodes(codes: Int32Array, numbers: ArrayLike<number>): Int32Array {
  const values = new Int32Array(codes.length);
  for (let i = 0; i < codes.length; i++) values[i] = numbers[codes[i]!]!;
  return values;
}
