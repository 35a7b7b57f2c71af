import type { Sql } from "../db/sql.ts";
import { TOKEN_EPOCH_CACHED_MS_MAX, TOKEN_EPOCH_FRESH_MS } from "../limits.ts";
import { CachedRows } from "./cached_rows.ts";

/** The time since all tokens were last revoked. Tokens of earlier epochs are invalid. */
export interface TokenEpoch {
  /** 0 until tokens are revoked for the first time. */
  readonly number: number;
  /** Null in epoch 0. */
  readonly begunAtMs: number | null;
}

export interface TokenEpochs {
  /** The epoch, as of at most TOKEN_EPOCH_CACHED_MS_MAX ago. Throws `DatabaseUnavailable`. */
  cached(): Promise<TokenEpoch>;
  /** The epoch, read from the database now. Throws `DatabaseUnavailable`. */
  latest(): Promise<TokenEpoch>;
  /**
   * Begins an epoch, which revokes every existing token. `also` runs in the same transaction. Throws
   * `DatabaseUnavailable`.
   */
  begin(
    also?: (inside: Sql) => Promise<void>,
  ): Promise<TokenEpoch & { readonly begunAtMs: number }>;
}

interface EpochRow extends Record<string, unknown> {
  epoch: number;
  begun_at: Date;
}

/** The only key of the cache. */
const LATEST = "latest";

/**
 * The epochs in the table `token_epochs`, cached like sessions and shares: a revocation takes effect on every
 * server within a second, at the cost of two small queries a second.
 */
export function createTokenEpochs(sql: Sql, now: () => number): TokenEpochs {
  async function latest(): Promise<TokenEpoch> {
    const [row] = await sql.query<EpochRow>(
      "SELECT epoch, begun_at FROM token_epochs ORDER BY epoch DESC LIMIT 1",
    );
    return { number: row?.epoch ?? 0, begunAtMs: row?.begun_at.getTime() ?? null };
  }

  const epochs = new CachedRows<TokenEpoch>({
    find: async () => new Map([[LATEST, await latest()]]),
    now,
    freshMs: TOKEN_EPOCH_FRESH_MS,
    cachedMsMax: TOKEN_EPOCH_CACHED_MS_MAX,
    // The smallest capacity of such a cache.
    cachedMax: 2,
  });

  return {
    latest,
    async cached() {
      return (await epochs.get(LATEST))!;
    },
    async begin(also = () => Promise.resolve()) {
      const [row] = await sql.transaction(async (inside) => {
        await also(inside);
        return await inside.query<EpochRow>(
          "INSERT INTO token_epochs DEFAULT VALUES RETURNING epoch, begun_at",
        );
      });
      if (row === undefined) throw new Error("The new epoch was not returned");
      epochs.invalidate();
      return { number: row.epoch, begunAtMs: row.begun_at.getTime() };
    },
  };
}
