/** Counts in the English sentences of the server and the command line. */

/** A count with its digits grouped: `1,200`. */
export const grouped = (count: number) => count.toLocaleString("en-US");

/** `event` of one, `events` of any other count. */
export const nounOf = (count: number, one: string, many = `${one}s`) => count === 1 ? one : many;

/** `1 event`, `1,200 events`. */
export const counted = (count: number, one: string, many?: string) =>
  `${grouped(count)} ${nounOf(count, one, many)}`;
