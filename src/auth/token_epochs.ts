import type { Sql } from "../db/sql.ts";
import { TOKEN_EPOCH_BELIEVED_MS_MAX, TOKEN_EPOCH_FRESH_MS } from "../limits.ts";
import { BelievedRows } from "./believed_rows.ts";

/** The time since all tokens were revoked last. Tokens of earlier epochs hold no more. */
export interface TokenEpoch {
  /** 0 until tokens are revoked for the first time. */
  readonly number: number;
  /** Null in epoch 0. */
  readonly begunAtMs: number | null;
}

export interface TokenEpochs {
  /** The epoch, as of at most TOKEN_EPOCH_BELIEVED_MS_MAX ago. Throws `DatabaseUnavailable`. */
  believed(): Promise<TokenEpoch>;
  /** The epoch as the database has it now. Throws `DatabaseUnavailable`. */
  latest(): Promise<TokenEpoch>;
  /**
   * Begins an epoch: revokes every token there is. `also` is done in the same transaction. Throws
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

/** There is one latest epoch. */
const LATEST = "latest";

/**
 * The epochs in the table `token_epochs`, believed like sessions and shares: a revocation holds on every
 * server within a second, for two small queries a second.
 */
export function createTokenEpochs(sql: Sql, now: () => number): TokenEpochs {
  async function latest(): Promise<TokenEpoch> {
    const [row] = await sql.query<EpochRow>(
      "SELECT epoch, begun_at FROM token_epochs ORDER BY epoch DESC LIMIT 1",
    );
    return { number: row?.epoch ?? 0, begunAtMs: row?.begun_at.getTime() ?? null };
  }

  const known = new BelievedRows<TokenEpoch>({
    find: async () => new Map([[LATEST, await latest()]]),
    now,
    freshMs: TOKEN_EPOCH_FRESH_MS,
    believedMsMax: TOKEN_EPOCH_BELIEVED_MS_MAX,
    // The least that such a cache holds.
    cachedMax: 2,
  });

  return {
    latest,
    async believed() {
      return (await known.believed(LATEST))!;
    },
    async begin(also = () => Promise.resolve()) {
      const [row] = await sql.transaction(async (inside) => {
        await also(inside);
        return await inside.query<EpochRow>(
          "INSERT INTO token_epochs DEFAULT VALUES RETURNING epoch, begun_at",
        );
      });
      if (row === undefined) throw new Error("The new epoch was not returned");
      known.invalidate();
      return { number: row.epoch, begunAtMs: row.begun_at.getTime() };
    },
  };
}
