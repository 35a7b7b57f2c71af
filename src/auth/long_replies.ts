import { asLong, headOfLong } from "../http/long_reply.ts";
import { Problem } from "../problem.ts";
import { type ApiExchange, type Principal, requirePrincipal } from "./access.ts";
import type { OpenStreams } from "./revocation_watch.ts";

/** A reply that is being written, and whose token lets it. */
interface Written {
  readonly principal: Principal;
  readonly cut: AbortController;
}

/**
 * Replies that are written while they are read, such as exports: they break off once their token is
 * revoked. One that only expires meanwhile lets its reply come to its end, as that of any request.
 */
export class LongReplies implements OpenStreams {
  readonly #assertHolds: (principal: Principal) => Promise<void>;
  readonly #written = new Set<Written>();

  /** @param assertHolds throws a 401 where a token is no longer accepted */
  constructor(assertHolds: (principal: Principal) => Promise<void>) {
    this.#assertHolds = assertHolds;
  }

  get listeners(): number {
    return this.#written.size;
  }

  /** Returns the reply to an exchange, whose body breaks off when the token of who asks is revoked. */
  watched({ who, request }: Pick<ApiExchange, "who" | "request">, reply: Response): Response {
    if (reply.body === null) return reply;
    if (request.method === "HEAD") {
      void reply.body.cancel().catch(() => {});
      return headOfLong(reply);
    }
    const written = { principal: requirePrincipal(who), cut: new AbortController() };
    this.#written.add(written);
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    reply.body.pipeTo(writable, { signal: written.cut.signal })
      // The reader learns it by the body that breaks off.
      .catch(() => {})
      .finally(() => this.#written.delete(written));
    return asLong(new Response(readable, reply));
  }

  async endRefused(): Promise<void> {
    await Promise.all(Array.from(this.#written, async ({ principal, cut }) => {
      try {
        await this.#assertHolds(principal);
      } catch (error) {
        if (error instanceof Problem && error.status === 401) cut.abort(error);
      }
    }));
  }
}
