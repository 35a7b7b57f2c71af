import { API_KEY_LENGTH_MAX } from "../limits.ts";

/** A longer text is not a key, even if all of its characters are percent-encoded. */
const WRITTEN_LENGTH_MAX = 4 * API_KEY_LENGTH_MAX;

/**
 * Returns the first value of a parameter, for short ones such as a key, a time or a word; null: none, or an empty
 * one. Parses only this one, as parsing all of a long query takes 50 ms, and anyone can send one.
 */
export function queryValue({ search }: URL, name: string): string | null {
  const written = new RegExp(`[?&]${name}=([^&]*)`).exec(search)?.[1] ?? "";
  return new URLSearchParams(`value=${written.slice(0, WRITTEN_LENGTH_MAX)}`).get("value") || null;
}
