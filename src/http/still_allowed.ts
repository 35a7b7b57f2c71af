/**
 * How long after a request was allowed its body may come without a second look, in milliseconds. Those who
 * are kept out hold a request open otherwise, and send the rest of it when they may no longer do it.
 */
export const ALLOWED_BODY_MS_MAX = 100;

interface Allowed {
  readonly atMs: number;
  /** Throws as at the first time where the request is allowed no more. */
  readonly check: () => Promise<unknown>;
}

/** By request, so that handlers which read bodies need not know who asks. */
const allowed = new WeakMap<Request, Allowed>();

/** Notes that a request has just been allowed, and how that is found out. */
export function noteAllowed(request: Request, check: () => Promise<unknown>): void {
  allowed.set(request, { atMs: performance.now(), check });
}

/** To be called once the body is read. Throws what `check` throws where the body took long. */
export async function assertStillAllowed(request: Request): Promise<void> {
  const known = allowed.get(request);
  if (known === undefined || performance.now() - known.atMs < ALLOWED_BODY_MS_MAX) return;
  await known.check();
}
