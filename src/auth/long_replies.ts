import { asLong, headOfLong } from "../http/long_reply.ts";
import { Problem } from "../problem.ts";
import { type ApiExchange, type Principal, requirePrincipal } from "./access.ts";
import type { OpenStreams } from "./revocation_watch.ts";

/** A reply that is being sent, and who asked for it. */
interface Sending {
  readonly principal: Principal;
  readonly cut: AbortController;
}

/**
 * Replies that are streamed, such as exports: they break off when their token is revoked. A token that merely
 * expires meanwhile does not end its reply.
 */
export class LongReplies implements OpenStreams {
  readonly #assertHolds: (principal: Principal) => Promise<void>;
  readonly #sending = new Set<Sending>();

  /** @param assertHolds throws a 401 if a token is no longer valid */
  constructor(assertHolds: (principal: Principal) => Promise<void>) {
    this.#assertHolds = assertHolds;
  }

  get listeners(): number {
    return this.#sending.size;
  }

  /** Returns the reply with a body that breaks off when the request's token is revoked. */
  watched({ who, request }: Pick<ApiExchange, "who" | "request">, reply: Response): Response {
    if (reply.body === null) return reply;
    if (request.method === "HEAD") {
      void reply.body.cancel().catch(() => {});
      return headOfLong(reply);
    }
    const sending = { principal: requirePrincipal(who), cut: new AbortController() };
    this.#sending.add(sending);
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    reply.body.pipeTo(writable, { signal: sending.cut.signal })
      // The reader sees the body break off.
      .catch(() => {})
      .finally(() => this.#sending.delete(sending));
    return asLong(new Response(readable, reply));
  }

  async endRefused(): Promise<void> {
    await Promise.all(Array.from(this.#sending, async ({ principal, cut }) => {
      try {
        await this.#assertHolds(principal);
      } catch (error) {
        if (error instanceof Problem && error.status === 401) cut.abort(error);
      }
    }));
  }
}
