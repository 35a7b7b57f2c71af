/// <reference lib="dom" />
import { ApiProblem, problemOf, unreachable } from "./api_problem.ts";
import { BASE_PATH } from "./base_path.ts";
import { type Params, project } from "./location_state.ts";
import { anotherToken, assertSameStay, bearerToken, stayNumber } from "./session.ts";

const URL_LENGTH_MAX = 16_000;
/** Paths of the whole deployment, or with the project in the path. */
const WITHOUT_PROJECT = /^\/v1\/(?:projects|people|tokens|audit|auth|overview)(?:\/|\?|$)/;

/** A path of the API with its parameters; the current project is added unless one is named. */
export function apiUrl(path: string, params: Params = {}): string {
  const query = new URLSearchParams();
  const all = WITHOUT_PROJECT.test(path) ? params : { project: project.peek(), ...params };
  for (const [name, value] of Object.entries(all)) {
    if (value !== null && value !== undefined) query.set(name, String(value));
  }
  const text = query.toString();
  return BASE_PATH + path + (text === "" ? "" : `${path.includes("?") ? "&" : "?"}${text}`);
}

interface Call extends Omit<RequestInit, "headers"> {
  readonly headers?: Readonly<Record<string, string>>;
}

function ask(url: string, call: Call, bearer: string): Promise<Response> {
  return fetch(url, { ...call, headers: { ...call.headers, Authorization: `Bearer ${bearer}` } });
}

/**
 * Sends a request with the token. If the token is refused, it is renewed and the request sent once more;
 * without another token the person is signed out. Never sent as somebody who signed in meanwhile.
 * @throws ApiProblem if the reply is not ok or none comes; DOMException `AbortError`.
 */
export async function request(url: string, call: Call = {}): Promise<Response> {
  if (url.length > URL_LENGTH_MAX) {
    throw new ApiProblem(400, "too_long", "These are too many filters or steps for one request.");
  }
  try {
    const stay = stayNumber.peek();
    const bearer = await bearerToken();
    assertSameStay(stay);
    const response = await ask(url, call, bearer);
    if (response.ok) return response;
    const problem = await problemOf(response);
    const next = problem.status === 401 ? await anotherToken(bearer, problem) : null;
    if (next === null) throw problem;
    assertSameStay(stay);
    const second = await ask(url, call, next);
    if (second.ok) return second;
    throw await problemOf(second);
  } catch (error) {
    throw unreachable(error);
  }
}

/** Awaits a reply's body. Throws as `request` does if it breaks off. */
export async function wholeBody<T>(body: Promise<T>): Promise<T> {
  try {
    return await body;
  } catch (error) {
    throw unreachable(error);
  }
}

/** `GET` of one read as JSON. Throws ApiProblem, and AbortError if `signal` aborts. */
export async function read<T>(path: string, params?: Params, signal?: AbortSignal): Promise<T> {
  const response = await request(apiUrl(path, params), signal === undefined ? {} : { signal });
  return await wholeBody(response.json());
}

/** A change: `PUT`, `POST`, `PATCH` or `DELETE`; null: the reply is empty. Throws ApiProblem. */
export async function send<T>(
  method: "PUT" | "POST" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
  params?: Params,
  headers: Call["headers"] = {},
): Promise<T | null> {
  const response = await request(apiUrl(path, params), {
    method,
    ...(body === undefined ? {} : {
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", ...headers },
    }),
  });
  return await wholeBody(response.text().then((text) => text === "" ? null : JSON.parse(text)));
}

/** Deletes a listed object; succeeds if somebody else has deleted it already. Throws ApiProblem. */
export async function deleteAt(path: string): Promise<void> {
  try {
    await send("DELETE", path);
  } catch (error) {
    if (!(error instanceof ApiProblem && error.code === "not_found")) throw error;
  }
}

/** `GET` of bytes, such as an image. Throws ApiProblem, and AbortError if `signal` aborts. */
export async function fetchBlob(
  path: string,
  params?: Params,
  signal?: AbortSignal,
): Promise<Blob> {
  const response = await request(apiUrl(path, params), signal === undefined ? {} : { signal });
  return await wholeBody(response.blob());
}
