import { apiUrl, deleteAt, read, send } from "./api.ts";
import { ApiProblem } from "./api_problem.ts";
import { assertSameStay, stayNumber } from "./session.ts";

/** The last `PUT` that got no answer, so that it may have been stored. */
let unanswered: { readonly url: string; readonly body: unknown } | null = null;

/** Whether `stored` has everything of `sent`; it may have more. */
function holds(stored: unknown, sent: unknown): boolean {
  if (typeof sent !== "object" || sent === null) return (stored ?? null) === (sent ?? null);
  if (typeof stored !== "object" || stored === null) return false;
  if (Array.isArray(sent) && sent.length !== (stored as unknown[]).length) return false;
  return Object.entries(sent).every(([name, value]) =>
    holds((stored as Record<string, unknown>)[name], value)
  );
}

/** Whether what is stored under the slug is the unanswered body, not another person's. */
async function isUnanswered(path: string, slug: string): Promise<boolean> {
  if (unanswered?.url !== apiUrl(`${path}/${slug}`)) return false;
  const reply = await read<Record<string, readonly Record<string, unknown>[]>>(path);
  const stored = reply[path.slice("/v1/".length)]!.find((each) => each["slug"] === slug);
  // In the list of goals `value` is their total; the definition's is `valueDefinition`.
  const value = stored?.["valueDefinition"];
  return stored !== undefined && holds({ ...stored, value }, unanswered.body);
}

/**
 * Stores something new. `slugOf` returns a slug that is not taken. If somebody else has taken it since the
 * list was read, it is called again, so that nothing is replaced. What an attempt stored whose answer was
 * lost is deleted and stored again, as only the answer has its secret.
 * @throws ApiProblem, also `already_exists` if `slugOf` returns a taken slug
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
    // It may have been stored all the same.
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
