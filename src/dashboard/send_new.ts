import { apiUrl, deleteAt, read, send } from "./api.ts";
import { ApiProblem } from "./api_problem.ts";
import { assertSameStay, stayNumber } from "./session.ts";

/** What was sent to be stored last, and where, without an answer: it may be there. */
let unanswered: { readonly url: string; readonly body: unknown } | null = null;

/** Whether everything of `sent` is in `stored`, which may hold more. */
function holds(stored: unknown, sent: unknown): boolean {
  if (typeof sent !== "object" || sent === null) return (stored ?? null) === (sent ?? null);
  if (typeof stored !== "object" || stored === null) return false;
  if (Array.isArray(sent) && sent.length !== (stored as unknown[]).length) return false;
  return Object.entries(sent).every(([name, value]) =>
    holds((stored as Record<string, unknown>)[name], value)
  );
}

/** Whether what stands under the name is what got no answer, and nobody else's. */
async function isUnanswered(path: string, slug: string): Promise<boolean> {
  if (unanswered?.url !== apiUrl(`${path}/${slug}`)) return false;
  const reply = await read<Record<string, readonly Record<string, unknown>[]>>(path);
  const stored = reply[path.slice("/v1/".length)]!.find((each) => each["slug"] === slug);
  // The list of goals has what they came to as `value`.
  const value = stored?.["valueDefinition"];
  return stored !== undefined && holds({ ...stored, value }, unanswered.body);
}

/**
 * Stores something new. `slugOf` names it, other than what is taken: where somebody else took the name
 * since the list was read, it is asked for another, so that nothing is replaced unseen. What was stored
 * by an attempt whose answer was lost is deleted and stored anew, as its secret is in that answer alone.
 * @throws ApiProblem `already_exists` too, where it keeps to a name that is taken
 */
export async function sendNew<T extends { readonly slug: string }>(
  path: string,
  body: unknown,
  taken: readonly string[],
  slugOf: (taken: readonly string[]) => string,
): Promise<T> {
  const slug = slugOf(taken);
  const at = `${path}/${slug}`;
  const stay = stayNumber.peek();
  try {
    const stored = (await send<T>("PUT", at, body, {}, { "If-None-Match": "*" }))!;
    if (unanswered?.url === apiUrl(at)) unanswered = null;
    return stored;
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    // The server may have failed after it was stored.
    if (error.status === 0 || error.status > 499) unanswered = { url: apiUrl(at), body };
    if (error.code !== "already_exists" || taken.includes(slug)) throw error;
    assertSameStay(stay);
    if (!await isUnanswered(path, slug)) {
      return await sendNew(path, body, [...taken, slug], slugOf);
    }
    await deleteAt(at);
    unanswered = null;
    return await sendNew(path, body, taken, slugOf);
  }
}
