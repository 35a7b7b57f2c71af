import { API_KEY_LENGTH_MAX } from "../limits.ts";

/** A longer text is no key, however many of its characters are percent-encoded. */
const WRITTEN_LENGTH_MAX = 4 * API_KEY_LENGTH_MAX;

/**
 * The first value of a parameter that is short: a key, a time, a word. Null: none, or an empty one. It is for
 * requests of anybody: parsing all parameters of a long query takes 50 ms.
 */
export function queryValue({ search }: URL, name: string): string | null {
  const written = new RegExp(`[?&]${name}=([^&]*)`).exec(search)?.[1] ?? "";
  return new URLSearchParams(`value=${written.slice(0, WRITTEN_LENGTH_MAX)}`).get("value") || null;
}
