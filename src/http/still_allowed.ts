/**
 * How many milliseconds after a request was allowed its body may arrive without a second check. Otherwise
 * callers could hold a request open and send its rest after their access was revoked.
 */
export const ALLOWED_BODY_MS_MAX = 100;

interface Allowed {
  readonly atMs: number;
  /** Repeats the access check. Throws the refusal if the request is not allowed any more. */
  readonly check: () => Promise<unknown>;
}

/** By request, so that handlers which read bodies need not know the caller. */
const allowed = new WeakMap<Request, Allowed>();

/** Notes that a request has just been allowed, and how to check it again. */
export function noteAllowed(request: Request, check: () => Promise<unknown>): void {
  allowed.set(request, { atMs: performance.now(), check });
}

/** Must be called once the body is read. Repeats the check if the body took long, and throws what it throws. */
export async function assertStillAllowed(request: Request): Promise<void> {
  const known = allowed.get(request);
  if (known === undefined || performance.now() - known.atMs < ALLOWED_BODY_MS_MAX) return;
  await known.check();
}
