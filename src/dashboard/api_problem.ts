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

/** A server that cannot be reached, one that is about to stop, and one without its database. */
const OUTAGES: readonly string[] = ["unreachable", "shutting_down", "database_unavailable"];

/** A refusal of the API, or a request that never got an answer (`status` 0, code `unreachable`). */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  /** What a field was given to show. */
  readonly #shown = new Set<ProblemPart>();

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

  /** True where nothing is wrong with what was asked: the server is away, and will be back. */
  get isOutage(): boolean {
    return OUTAGES.includes(this.code);
  }

  /** What is wrong with one member of a body, and with entries of its list; null: nothing. Its field shows it. */
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

  /** What no field shows, for people; null: the fields show all. */
  get rest(): string | null {
    if (this.errors.length === 0) return this.detail;
    const rest = this.errors.filter((part) => !this.#shown.has(part))
      .map(({ field, message }) => field === undefined ? message : `${field}: ${message}`);
    return rest.join(" ") || null;
  }
}

/**
 * Reads what a reply that is not ok says. The server tells each of its errors in words: without them it is a
 * proxy that answers, to say that it cannot reach the server, or what is wrong with the request by the status.
 */
export async function problemOf(response: Response): Promise<ApiProblem> {
  const body: ProblemBody = await response.json().catch(() => ({}));
  const { status } = response;
  const detail = body.detail ?? body.title;
  if (detail === undefined && status > 499) return outOfReach();
  const { code = "unknown", errors = [], requestId = null } = body;
  const told = detail ?? `The server answered with status ${status}.`;
  return new ApiProblem(status, code, told, errors, requestId);
}

function outOfReach(): ApiProblem {
  const detail = "The server cannot be reached. Check the connection, then try again.";
  return new ApiProblem(0, "unreachable", detail);
}

/** What `fetch` throws, or the reading of a body, as a problem; an abort stays what it is. */
export function unreachable(error: unknown): unknown {
  if (error instanceof DOMException && error.name === "AbortError") return error;
  if (error instanceof ApiProblem) return error;
  return outOfReach();
}
