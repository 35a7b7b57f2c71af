import {
  errorOf,
  type LoanQuestion,
  type LoanReply,
  type LoanRequest,
  NO_TRANSACTION,
} from "./lent_database.ts";
import type { BinaryRow } from "./binary_rows.ts";
import type { Database, Param, Row, Settings, Sql } from "./sql.ts";

/** Sends questions to the lender, and matches its answers to them. */
class Loan {
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;

  constructor(private readonly port: MessagePort) {
    port.onmessage = ({ data }: MessageEvent<LoanReply>) => {
      const answer = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if ("failure" in data) answer?.reject(errorOf(data.failure));
      else answer?.resolve(data.value);
    };
  }

  ask(scope: number, question: LoanQuestion): Promise<unknown> {
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#waiting.set(id, answer);
    this.tell(scope, question, id);
    return answer.promise;
  }

  tell(scope: number, question: LoanQuestion, id = ++this.#lastId): void {
    this.port.postMessage({ ...question, id, scope } satisfies LoanRequest);
  }

  close(): void {
    this.port.close();
  }
}

/** The borrowed database, or one transaction in it. */
class BorrowedSql implements Sql {
  constructor(readonly loan: Loan, readonly scope: number) {}

  async query<R extends Row = Row>(text: string, params: readonly Param[] = []): Promise<R[]> {
    return await this.loan.ask(this.scope, { kind: "query", text, params }) as R[];
  }

  async binary(text: string, params: readonly Param[] = []): Promise<BinaryRow[]> {
    return await this.loan.ask(this.scope, { kind: "binary", text, params }) as BinaryRow[];
  }

  async script(text: string): Promise<void> {
    await this.loan.ask(this.scope, { kind: "script", text });
  }

  async transaction<T>(
    work: (sql: Sql) => Promise<T>,
    signal?: AbortSignal,
    settings?: Settings,
  ): Promise<T> {
    const texts = settings?.();
    const scope = await this.loan.ask(this.scope, { kind: "begin" }) as number;
    const cancel = () => this.loan.tell(scope, { kind: "cancel" });
    signal?.addEventListener("abort", cancel);
    const inside = new BorrowedSql(this.loan, scope);
    // A failure is that of the transaction: the lender's commit throws it.
    if (texts !== undefined) inside.script(texts.join("; ")).catch(() => {});
    let result: T;
    try {
      result = await work(inside);
    } catch (error) {
      await this.loan.ask(scope, { kind: "end", commits: false });
      throw error;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
    await this.loan.ask(scope, { kind: "end", commits: true });
    return result;
  }
}

class BorrowedDatabase extends BorrowedSql implements Database {
  constructor(loan: Loan, readonly engine: Database["engine"]) {
    super(loan, NO_TRANSACTION);
  }

  async rest(msMax: number): Promise<void> {
    await this.loan.ask(this.scope, { kind: "rest", msMax });
  }

  async ping(): Promise<void> {
    await this.loan.ask(this.scope, { kind: "ping" });
  }

  /** Ends the loan; the lender's database stays open. */
  close(): Promise<void> {
    this.loan.close();
    return Promise.resolve();
  }
}

/** Returns the database that another thread lends at the other end of the port: see `LentDatabase`. */
export function borrowDatabase(port: MessagePort, engine: Database["engine"]): Database {
  return new BorrowedDatabase(new Loan(port), engine);
}
