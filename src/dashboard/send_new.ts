import { send } from "./api.ts";
import { ApiProblem } from "./api_problem.ts";

/**
 * Stores something new. `slugOf` names it, other than what is taken: where somebody else took the name
 * since the list was read, it is asked for another, so that nothing is replaced unseen.
 * @throws ApiProblem `already_exists` too, where it keeps to a name that is taken
 */
export async function sendNew<T extends { readonly slug: string }>(
  path: string,
  body: unknown,
  taken: readonly string[],
  slugOf: (taken: readonly string[]) => string,
): Promise<T> {
  const slug = slugOf(taken);
  try {
    return (await send<T>("PUT", `${path}/${slug}`, body, {}, { "If-None-Match": "*" }))!;
  } catch (error) {
    const isTaken = error instanceof ApiProblem && error.code === "already_exists";
    if (!isTaken || taken.includes(slug)) throw error;
    return await sendNew(path, body, [...taken, slug], slugOf);
  }
}
