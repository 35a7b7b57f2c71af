import { type Problem, PROBLEMS } from "../problem.ts";
import { COPIED_BYTES_MAX, replyOf } from "./reply_body.ts";

export const JSON_TYPE = "application/json; charset=utf-8";
const UTF8 = new TextEncoder();
/** Of each unit of a text's length. */
const UTF8_BYTES_MAX = 3;
const PROBLEM_TYPE = "application/problem+json; charset=utf-8";

/** Makes a JSON reply; `headers` are added unchanged. */
export function json(
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return jsonText(JSON.stringify(body), status, headers);
}

/** Makes a JSON reply of serialised JSON. */
export function jsonText(
  text: string,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const response = UTF8_BYTES_MAX * text.length <= COPIED_BYTES_MAX
    ? new Response(text, { status })
    : replyOf(UTF8.encode(text), { status });
  // Set one by one, because a list of headers costs the constructor 4 µs.
  response.headers.set("Content-Type", JSON_TYPE);
  response.headers.set("Cache-Control", "no-store");
  for (const name in headers) response.headers.set(name, headers[name]!);
  return response;
}

/** Returns a problem as JSON (RFC 9457): `type`, `title`, `status`, `detail`, `code`, `requestId`, `errors`? */
export function problemText(problem: Problem, requestId: string): string {
  const { status, title } = PROBLEMS[problem.code];
  return JSON.stringify({
    type: `urn:footfall:problem:${problem.code}`,
    title,
    status,
    detail: problem.detail,
    code: problem.code,
    requestId,
    ...(problem.options.errors === undefined ? {} : { errors: problem.options.errors }),
  });
}

export function problemReply(problem: Problem, requestId: string): Response {
  return new Response(problemText(problem, requestId), {
    status: problem.status,
    headers: {
      "Content-Type": PROBLEM_TYPE,
      "Cache-Control": "no-store",
      ...problem.options.headers,
    },
  });
}

/** Adds the headers of every reply. */
export function addCommonHeaders(headers: Headers, requestId: string): void {
  headers.set("X-Request-Id", requestId);
  // Bodies hold what others wrote, so browsers must treat them only as what their type says.
  headers.set("X-Content-Type-Options", "nosniff");
}
