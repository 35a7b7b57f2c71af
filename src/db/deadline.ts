import { DATABASE_PING_MS_MAX } from "../limits.ts";
import { DatabaseUnavailable, type Sql } from "./sql.ts";

/** Waits for work, at most `ms`; then throws `late`. */
export async function within<T>(ms: number, work: Promise<T>, late: Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until work has settled, at most `ms`. Never throws: the work goes on, and its failure is told elsewhere. */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  await within(ms, work, new Error("It takes longer")).catch(() => {});
}

/** Waits for an answer that a database gives at once; throws DatabaseUnavailable if it comes too late. */
export async function promptly<T>(asked: Promise<T>): Promise<T> {
  const late = new DatabaseUnavailable(`No answer within ${DATABASE_PING_MS_MAX} ms`);
  return await within(DATABASE_PING_MS_MAX, asked, late);
}

/** Resolves when the database answers; throws DatabaseUnavailable if it does not in time. */
export async function ping(sql: Sql): Promise<void> {
  await promptly(sql.query("SELECT 1"));
}
