import { type Problem, PROBLEMS } from "../problem.ts";

const JSON_TYPE = "application/json; charset=utf-8";
const PROBLEM_TYPE = "application/problem+json; charset=utf-8";

/** A JSON reply. `headers` are added as they are. */
export function json(
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": JSON_TYPE, "Cache-Control": "no-store", ...headers },
  });
}

/** The RFC 9457 reply to a problem: `type`, `title`, `status`, `detail`, `code`, `requestId`, `errors`? */
export function problemReply(problem: Problem, requestId: string): Response {
  const { status, title } = PROBLEMS[problem.code];
  const body = {
    type: `urn:footfall:problem:${problem.code}`,
    title,
    status,
    detail: problem.detail,
    code: problem.code,
    requestId,
    ...(problem.options.errors === undefined ? {} : { errors: problem.options.errors }),
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      "Content-Type": PROBLEM_TYPE,
      "Cache-Control": "no-store",
      ...problem.options.headers,
    },
  });
}
