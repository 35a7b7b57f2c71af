/// <reference lib="dom" />

/** One part of what was wrong with a request. */
export interface ProblemPart {
  readonly field?: string;
  readonly code: string;
  readonly message: string;
}

interface ProblemBody {
  readonly status?: number;
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly requestId?: string;
  readonly errors?: readonly ProblemPart[];
}

/** A refusal of the API, or a request that never got an answer (`status` 0, code `unreachable`). */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";

  constructor(
    readonly status: number,
    readonly code: string,
    /** A sentence fit to be shown to a person. */
    readonly detail: string,
    readonly errors: readonly ProblemPart[] = [],
    readonly requestId: string | null = null,
  ) {
    super(detail);
  }

  /** What is wrong with one field of a body or one parameter; null: nothing. */
  messageFor(field: string): string | null {
    return this.errors.find((part) => part.field === field)?.message ?? null;
  }
}

/** Reads what a reply that is not ok says; a proxy's own error page is told by its status. */
export async function problemOf(response: Response): Promise<ApiProblem> {
  const body: ProblemBody = await response.json().catch(() => ({}));
  const detail = body.detail ?? body.title ?? `The server answered with status ${response.status}.`;
  const { code = "unknown", errors = [], requestId = null } = body;
  return new ApiProblem(response.status, code, detail, errors, requestId);
}

/** What `fetch` throws, or the reading of a body, as a problem; an abort stays what it is. */
export function unreachable(error: unknown): unknown {
  if (error instanceof DOMException && error.name === "AbortError") return error;
  if (error instanceof ApiProblem) return error;
  return new ApiProblem(
    0,
    "unreachable",
    "The server cannot be reached. Check the connection, then try again.",
  );
}
