import { prefersToJson } from "../../http/accept.ts";
import type { Log } from "../../http/log.ts";
import { asLong, headOfLong } from "../../http/long_reply.ts";
import {
  LIVE_HEARTBEAT_MS,
  LIVE_INTERVAL_MS,
  LIVE_LISTENERS_MAX,
  LIVE_LISTENERS_PER_PROJECT_MAX,
  LIVE_LISTENERS_PER_TOKEN_MAX,
  LIVE_LOOKS_AT_ONCE,
} from "../../limits.ts";
import { type Problem, retryable } from "../../problem.ts";
import type { ReadRequest } from "../answer/report_endpoint.ts";
import { Seats } from "../../turns/seats.ts";
import { Semaphore } from "../../turns/semaphore.ts";
import {
  createListener,
  type Listener,
  type StreamTerms,
  type Update,
  updateOf,
} from "./live_listener.ts";

export interface LiveFeedOptions {
  /** Answers one read of `GET /v1/live` as JSON, with an ETag that changes with the result. */
  readonly read: (asked: ReadRequest) => Promise<Response>;
  readonly log: Pick<Log, "warn">;
  readonly now: () => number;
  readonly intervalMs?: number;
  readonly heartbeatMs?: number;
  readonly listenersMax?: number;
  readonly listenersPerProjectMax?: number;
  readonly listenersPerTokenMax?: number;
}

const HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store, no-transform",
  "Vary": "Authorization, Accept",
  // Proxies that buffer replies must not buffer this one.
  "X-Accel-Buffering": "no",
};

/** Drops the headers of a stream's request: its If-None-Match must not apply to other streams. */
function withoutHeaders(asked: ReadRequest): ReadRequest {
  return { ...asked, request: new Request(asked.request.url) };
}

type Channel = ReturnType<typeof createChannel>;

/** All streams with the same question to the same project: one read serves them all. */
function createChannel(
  { read, log, intervalMs, heartbeatMs }: Required<LiveFeedOptions>,
  turns: Semaphore,
) {
  const listeners = new Set<Listener>();
  let asked!: ReadRequest;
  let latest: Update | null = null;
  let reading: Promise<Update> | null = null;
  let timer: ReturnType<typeof setInterval> | undefined;
  let hasFailed = false;
  /** A repeated read, or the wait for its turn. */
  let looking: Promise<void> | null = null;

  async function readNow(): Promise<Update> {
    const response = await read(asked);
    return latest = updateOf(response.headers.get("etag") ?? "", await response.text());
  }

  const readOnce = () => reading ??= readNow().finally(() => reading = null);

  function each(act: (listener: Listener) => void): void {
    for (const listener of listeners) {
      if (listener.isExpired()) listener.end();
      else act(listener);
    }
  }

  async function look(): Promise<void> {
    // The listeners may have left while this waited for its turn.
    if (listeners.size === 0) return;
    try {
      const update = await readOnce();
      hasFailed = false;
      each((listener) => listener.offer(update));
    } catch (error) {
      // The next turn tries again; an outage is logged once.
      const reason = error instanceof Error ? error.message : String(error);
      if (!hasFailed) log.warn("live read failed", { reason });
      hasFailed = true;
    }
  }

  /** Handles expiry and heartbeats, then starts a read without waiting for it, as it may take long. */
  function turn(): void {
    each((listener) => listener.beat(heartbeatMs));
    if (listeners.size > 0) looking ??= turns.take(look).finally(() => looking = null);
  }

  return {
    listeners,
    /** Streams that are open or about to be. */
    seats: 0,
    /** Reads as this stream asks from now on: its project may have changed since the last one began. */
    ask: (by: ReadRequest) => asked = withoutHeaders(by),
    /** Returns the last update, or reads the first one now. Throws what the read throws. */
    latest: async () => latest ?? await readOnce(),
    start: () => timer ??= setInterval(turn, intervalMs),
    stop: () => {
      clearInterval(timer);
      timer = undefined;
    },
    /** Resolves when no read is running. */
    idle: async (): Promise<void> => {
      await Promise.all([reading?.catch(() => {}), looking]);
    },
  };
}

const stopping = (): Problem =>
  retryable("shutting_down", "The server is stopping. Send the request again.");

/** Returns a key that is equal for the same parameters, in any order, to the same project. */
function channelKey({ project, url }: ReadRequest): string {
  const query = new URLSearchParams(url.searchParams);
  query.delete("project");
  query.sort();
  return `${project.projectId}?${query}`;
}

/**
 * Server-sent events of `GET /v1/live`: an event `live` with the reply's JSON at the start and
 * whenever the result changes, and comments in between as heartbeats. Without listeners nothing runs.
 */
export class LiveFeed {
  readonly #options: Required<LiveFeedOptions>;
  readonly #channels = new Map<string, Channel>();
  readonly #leaving = new Set<Promise<void>>();
  readonly #turns = new Semaphore(LIVE_LOOKS_AT_ONCE);
  #seats = 0;
  readonly #projectSeats = new Seats<number>();
  readonly #tokenSeats = new Seats<string>();
  #isClosed = false;

  /** The feed closes when `signal` aborts, or by `close`. */
  constructor(options: LiveFeedOptions, signal?: AbortSignal) {
    this.#options = {
      intervalMs: LIVE_INTERVAL_MS,
      heartbeatMs: LIVE_HEARTBEAT_MS,
      listenersMax: LIVE_LISTENERS_MAX,
      listenersPerProjectMax: LIVE_LISTENERS_PER_PROJECT_MAX,
      listenersPerTokenMax: LIVE_LISTENERS_PER_TOKEN_MAX,
      ...options,
    };
    signal?.addEventListener("abort", () => void this.close(), { once: true });
  }

  /** Streams that are open or about to be. */
  get listeners(): number {
    return this.#seats;
  }

  /**
   * Answers `GET /v1/live` with JSON, or with a stream if `text/event-stream` is preferred. A stream ends when
   * its reader leaves, when its terms end, and when the feed closes; a later read that fails is tried again.
   * @throws Problem `too_many_streams`, `overloaded`, `shutting_down`, and what the first read throws.
   */
  async answer(asked: ReadRequest, terms: StreamTerms): Promise<Response> {
    if (prefersToJson(asked.request, "text/event-stream")) {
      return await this.#stream(asked, terms);
    }
    return await this.#options.read(asked);
  }

  /** Ends every stream; new ones may be opened. */
  endAll(): void {
    for (const { listeners } of [...this.#channels.values()]) {
      for (const listener of [...listeners]) listener.end();
    }
  }

  /** Ends the streams whose token is no longer accepted. */
  async endRefused(): Promise<void> {
    const open = [...this.#channels.values()].flatMap(({ listeners }) => [...listeners]);
    await Promise.all(open.map((listener) => listener.endIfRefused()));
  }

  /** Ends every stream for good. Resolves when no read is running. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const channels = [...this.#channels.values()];
    this.endAll();
    await Promise.all([...this.#leaving, ...channels.map((channel) => channel.idle())]);
  }

  async #stream(asked: ReadRequest, terms: StreamTerms): Promise<Response> {
    const { channel, leave } = this.#enter(asked);
    let first: Update;
    try {
      first = await channel.latest();
      if (this.#isClosed) throw stopping();
    } catch (error) {
      leave();
      throw error;
    }
    if (asked.request.method === "HEAD") {
      leave();
      return headOfLong({ headers: HEADERS });
    }
    const listener: Listener = createListener(first, terms, this.#options.now, () => {
      channel.listeners.delete(listener);
      leave();
    });
    channel.listeners.add(listener);
    channel.start();
    return asLong(new Response(listener.stream, { headers: HEADERS }));
  }

  /** Throws if one more stream would be too many. */
  #refuseTooMany(projectId: number, token: string): void {
    if (this.#isClosed) throw stopping();
    const { listenersMax, listenersPerProjectMax, listenersPerTokenMax } = this.#options;
    const holders = [
      ["This token", this.#tokenSeats.of(token), listenersPerTokenMax],
      ["This project", this.#projectSeats.of(projectId), listenersPerProjectMax],
    ] as const;
    for (const [whose, seats, most] of holders) {
      const detail = `${whose} has ${most} live streams open, and may have no more. ` +
        "Close some and try again.";
      if (seats >= most) throw retryable("too_many_streams", detail);
    }
    if (this.#seats >= listenersMax) {
      throw retryable("overloaded", "Too many live streams are open. Try again shortly.");
    }
  }

  /** Takes a seat in the channel of the question; `leave`, to be called once, gives it back. */
  #enter(asked: ReadRequest): { channel: Channel; leave: () => void } {
    const { projectId } = asked.project;
    // Leaves out the scheme, which may be written in more than one way.
    const token = asked.request.headers.get("authorization")?.split(" ").at(-1) ?? "";
    this.#refuseTooMany(projectId, token);
    const key = channelKey(asked);
    const channel = this.#channels.getOrInsertComputed(
      key,
      () => createChannel(this.#options, this.#turns),
    );
    channel.ask(asked);
    channel.seats++;
    this.#seats++;
    this.#projectSeats.take(projectId);
    this.#tokenSeats.take(token);
    const leave = () => {
      this.#seats--;
      this.#projectSeats.give(projectId);
      this.#tokenSeats.give(token);
      if (--channel.seats > 0) return;
      channel.stop();
      this.#channels.delete(key);
      const leaving = channel.idle().finally(() => this.#leaving.delete(leaving));
      this.#leaving.add(leaving);
    };
    return { channel, leave };
  }
}
