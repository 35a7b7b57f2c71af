import type { Sql } from "../db/sql.ts";
import { TOKEN_EPOCH_BELIEVED_MS_MAX, TOKEN_EPOCH_FRESH_MS } from "../limits.ts";

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

interface Known {
  readonly epoch: TokenEpoch;
  /** When the query was sent: what it found is at least as young as that. */
  readonly askedAtMs: number;
}

/**
 * The epochs in the table `token_epochs`. As with API keys, what is known is asked for again in the
 * background after TOKEN_EPOCH_FRESH_MS, and after TOKEN_EPOCH_BELIEVED_MS_MAX a request waits for
 * the answer: a revocation holds on every server within a second, for two small queries a second.
 */
export function createTokenEpochs(sql: Sql, now: () => number): TokenEpochs {
  let known: Known | null = null;
  let asking: { readonly sentAtMs: number; readonly answer: Promise<TokenEpoch> } | null = null;

  async function ask(): Promise<TokenEpoch> {
    const askedAtMs = now();
    const [row] = await sql.query<EpochRow>(
      "SELECT epoch, begun_at FROM token_epochs ORDER BY epoch DESC LIMIT 1",
    );
    const epoch = { number: row?.epoch ?? 0, begunAtMs: row?.begun_at.getTime() ?? null };
    // An epoch that began here meanwhile is the later one.
    if (known === null || epoch.number >= known.epoch.number) known = { epoch, askedAtMs };
    return known.epoch;
  }

  /** Joins the query that is under way, unless what it finds may be too old by now. */
  function askTogether(): Promise<TokenEpoch> {
    if (asking !== null && now() - asking.sentAtMs <= TOKEN_EPOCH_BELIEVED_MS_MAX) {
      return asking.answer;
    }
    const mine = {
      sentAtMs: now(),
      answer: ask().finally(() => {
        if (asking === mine) asking = null;
      }),
    };
    asking = mine;
    return mine.answer;
  }

  return {
    latest: ask,
    async believed() {
      const ageMs = known === null ? Infinity : now() - known.askedAtMs;
      if (known === null || ageMs < 0 || ageMs > TOKEN_EPOCH_BELIEVED_MS_MAX) {
        return await askTogether();
      }
      // A failure leaves what is known, until nobody may believe it any more.
      if (ageMs > TOKEN_EPOCH_FRESH_MS) askTogether().catch(() => {});
      return known.epoch;
    },
    async begin(also = () => Promise.resolve()) {
      const [row] = await sql.transaction(async (inside) => {
        await also(inside);
        return await inside.query<EpochRow>(
          "INSERT INTO token_epochs DEFAULT VALUES RETURNING epoch, begun_at",
        );
      });
      if (row === undefined) throw new Error("The new epoch was not returned");
      const begun = { number: row.epoch, begunAtMs: row.begun_at.getTime() };
      known = { epoch: begun, askedAtMs: now() };
      return begun;
    },
  };
}
