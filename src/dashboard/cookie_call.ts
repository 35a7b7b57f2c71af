/// <reference lib="dom" />
import { problemOf, unreachable } from "./api_problem.ts";
import { BASE_PATH } from "./base_path.ts";

/**
 * A request authenticated by this browser's session cookie, not by a token: signing in and out, entering a
 * share, and what only a session may do. Null: the reply is empty.
 * @throws ApiProblem if the reply is not ok, or none comes.
 */
export async function callByCookie<T>(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T | null> {
  try {
    const response = await fetch(BASE_PATH + path, {
      method,
      credentials: "same-origin",
      cache: "no-store",
      ...(signal === undefined ? {} : { signal }),
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
    });
    if (!response.ok) throw await problemOf(response);
    const text = await response.text();
    return text === "" ? null : JSON.parse(text);
  } catch (error) {
    throw unreachable(error);
  }
}
