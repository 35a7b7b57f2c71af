import { TOKEN_EPOCH_FRESH_MS } from "../limits.ts";
import type { TokenEpochs } from "./token_epochs.ts";

/** Replies that are still being sent after their request was authorized. */
export interface OpenStreams {
  readonly listeners: number;
  /** Ends all streams; clients with a valid token reconnect. Absent: only `endRefused` ends any. */
  endAll?(): void;
  /** Ends the streams whose token is no longer valid, for example because its session has ended. */
  endRefused(): Promise<void>;
}

/** Ends open streams within a second of their token's revocation, until `signal` aborts. */
export function watchRevocations(
  epochs: Pick<TokenEpochs, "cached">,
  streams: OpenStreams,
  signal: AbortSignal,
): void {
  let seen: number | null = null;
  const check = async () => {
    if (streams.listeners === 0 && seen !== null) return;
    const { number } = await epochs.cached();
    if (seen !== null && number !== seen) streams.endAll?.();
    seen = number;
    await streams.endRefused();
  };
  // A check that fails, such as while the database is away, is repeated by the next.
  const timer = setInterval(() => void check().catch(() => {}), TOKEN_EPOCH_FRESH_MS);
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}
