/** Free-form data of an event: anything that JSON can hold, at most 32 KiB. */
// deno-lint-ignore no-explicit-any -- with `unknown`, no value of an interface's type would do
export type Properties = Record<string, any>;

/** Which parts of autocapture run; a part left out runs. */
export interface Autocapture {
  /** `page_view`, history navigation and the back/forward cache included. */
  readonly pageViews?: boolean;
  /** `click` with its position, rage and dead clicks told apart. */
  readonly clicks?: boolean;
  /** `scroll`: the deepest pixel reached, once per page view, as it ends. */
  readonly scroll?: boolean;
  /** `outbound_link` and `file_download`. */
  readonly links?: boolean;
}

export interface AnalyticsOptions {
  /** Missing or empty: every call is a silent no-op. */
  readonly apiKey?: string | null | undefined;
  /** Where Footfall answers, without `/v1/events`; a same-origin path such as `/analytics` too. */
  readonly endpoint?: string | null | undefined;
  /** Tell the console what happens. Default: false, the console stays silent. */
  readonly debug?: boolean;
  /** Queued events that make a flush. Default: 10. */
  readonly flushAt?: number;
  /** Milliseconds from the first queued event to its flush. Default: 5000. */
  readonly flushIntervalMs?: number;
  /** Milliseconds after which an unanswered request is given up and tried again. Default: 15000. */
  readonly timeoutMs?: number;
  /** Default: false for the module, true for the script tag. Never runs outside a page. */
  readonly autocapture?: boolean | Autocapture;
}

/** What one call knows better than the SDK; on a server, who the event is about. */
export interface EventDetails {
  readonly userId?: string;
  readonly anonymousId?: string;
  readonly sessionId?: string;
  /** ISO 8601 or epoch milliseconds. Default: now. */
  readonly timestamp?: string | number;
  readonly url?: string;
  readonly path?: string;
  readonly referrer?: string;
  readonly title?: string;
  /** `ip` and `userAgent` are believed from a secret key alone: a backend speaking for a visitor. */
  readonly context?: {
    readonly ip?: string;
    readonly userAgent?: string;
    readonly locale?: string;
    readonly timezone?: string;
  };
}

/** No method throws, whatever it is given. */
export interface Analytics {
  /** Queues an event. */
  track(name: string, properties?: Properties, details?: EventDetails): void;
  /** Queues a `page_view` and ends the page view before it. */
  page(properties?: Properties, details?: EventDetails): void;
  /**
   * Later events carry `userId`; an object is passed over, and so is what the server refuses: `.`, `..`
   * and more than 200 characters. Sends nothing. On a server: pass `userId` to `track` instead.
   */
  identify(userId: string): void;
  /** Forgets the user and starts with a new `anonymousId`. */
  reset(): void;
  /** Sends what is queued; resolves when that was tried. Does not override a `Retry-After`. */
  flush(): Promise<void>;
  /** Stops recording in this browser, and deletes the queue and the identity. */
  optOut(): void;
  /** Undoes `optOut`. A browser that sends Global Privacy Control stays opted out. */
  optIn(): void;
}

/** Makes the client. A second call with the same key and endpoint returns the first. */
export declare function createAnalytics(options: AnalyticsOptions): Analytics;
