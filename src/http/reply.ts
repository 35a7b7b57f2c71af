import { type Problem, PROBLEMS } from "../problem.ts";

const JSON_TYPE = "application/json; charset=utf-8";
const PROBLEM_TYPE = "application/problem+json; charset=utf-8";

/** A JSON reply. `headers` are added as they are. */
export function json(
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const response = new Response(JSON.stringify(body), { status });
  // One by one, since a list of headers takes the constructor 4 µs to look through.
  response.headers.set("Content-Type", JSON_TYPE);
  response.headers.set("Cache-Control", "no-store");
  for (const name in headers) response.headers.set(name, headers[name]!);
  return response;
}

/** A problem by RFC 9457: `type`, `title`, `status`, `detail`, `code`, `requestId`, `errors`? */
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

/** The reply to a problem. */
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
