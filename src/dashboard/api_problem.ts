/// <reference lib="dom" />

/** One error of a request. */
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

/** The codes for a server that cannot be reached, is about to stop, has lost its database, or is moving to another. */
const OUTAGES: readonly string[] = [
  "unreachable",
  "shutting_down",
  "database_unavailable",
  "moving",
];

/** A refusal of the API, or a request that never got an answer (`status` 0, code `unreachable`). */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  /** The errors that fields show. */
  readonly #shown = new Set<ProblemPart>();

  constructor(
    readonly status: number,
    readonly code: string,
    /** A sentence for people. */
    readonly detail: string,
    readonly errors: readonly ProblemPart[] = [],
    readonly requestId: string | null = null,
  ) {
    super(detail);
  }

  /** Whether the server is unavailable for now, and nothing is wrong with the request. */
  get isOutage(): boolean {
    return OUTAGES.includes(this.code);
  }

  /** The errors of one member of a body and of its list's entries, for its field to show; null: none. */
  messageFor(member: string): string | null {
    const messages = new Set<string>();
    for (const part of this.errors) {
      const { field = "", message } = part;
      if (!`${field}.`.startsWith(`${member}.`)) continue;
      this.#shown.add(part);
      const entry = /^\.(\d+)/.exec(field.slice(member.length))?.[1];
      messages.add(entry === undefined ? message : `Entry ${Number(entry) + 1}: ${message}`);
    }
    return [...messages].join(" ") || null;
  }

  /** The errors that no field shows, in words; null: fields show all. */
  get rest(): string | null {
    if (this.errors.length === 0) return this.detail;
    const rest = this.errors.filter((part) => !this.#shown.has(part))
      .map(({ field, message }) => field === undefined ? message : `${field}: ${message}`);
    return rest.join(" ") || null;
  }
}

/**
 * Reads the problem of a reply that is not ok. The server describes each problem in words; a reply without
 * them is a proxy's: from 500 on it cannot reach the server, else the status says what is wrong.
 */
export async function problemOf(response: Response): Promise<ApiProblem> {
  const body: ProblemBody = await response.json().catch(() => ({}));
  const { status } = response;
  const detail = body.detail ?? body.title;
  if (detail === undefined && status > 499) return outOfReach();
  const { code = "unknown", errors = [], requestId = null } = body;
  const text = detail ?? `The server answered with status ${status}.`;
  return new ApiProblem(status, code, text, errors, requestId);
}

function outOfReach(): ApiProblem {
  const detail = "The server cannot be reached. Check the connection, then try again.";
  return new ApiProblem(0, "unreachable", detail);
}

/** Turns an error of `fetch` or of reading a body into a problem; returns an abort as it is. */
export function unreachable(error: unknown): unknown {
  if (error instanceof DOMException && error.name === "AbortError") return error;
  if (error instanceof ApiProblem) return error;
  return outOfReach();
}
