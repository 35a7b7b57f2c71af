import { TOKEN_EPOCH_FRESH_MS } from "../limits.ts";
import type { TokenEpochs } from "./token_epochs.ts";

/** Replies that go on after the request was let in. */
export interface OpenStreams {
  readonly listeners: number;
  /** Ends all of them. Whose token holds opens another. Absent: each is asked, by `endRefused`. */
  endAll?(): void;
  /** Ends those whose token holds no more, such as that of a session that has ended. */
  endRefused(): Promise<void>;
}

/** Ends open streams when their tokens are revoked, within a second; until `signal` aborts. */
export function watchRevocations(
  epochs: Pick<TokenEpochs, "believed">,
  streams: OpenStreams,
  signal: AbortSignal,
): void {
  let seen: number | null = null;
  const look = async () => {
    if (streams.listeners === 0 && seen !== null) return;
    const { number } = await epochs.believed();
    if (seen !== null && number !== seen) streams.endAll?.();
    seen = number;
    await streams.endRefused();
  };
  // While the database is away nothing is known; the next look tries again.
  const timer = setInterval(() => void look().catch(() => {}), TOKEN_EPOCH_FRESH_MS);
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}
