import assert from "node:assert/strict";
import { Problem } from "../../../src/problem.ts";
import type { ReadRequest } from "../../../src/reports/answer/report_endpoint.ts";
import { PROJECT_ONE } from "../../support/event_rows.ts";
import { within } from "../../support/server_process.ts";

export const PROJECT = { ...PROJECT_ONE, timezone: "Europe/Berlin" };
/** A token that does not expire. */
export const FOR_EVER = { expiresAtMs: 8.64e15 };

/** For what takes milliseconds, on a busy machine too. */
export const WAIT_MS_MAX = 20_000;

/** Returns a request of `GET /v1/live` that accepts a stream; `search` adds parameters. */
export function asked(search = "", init: RequestInit = {}, project = PROJECT): ReadRequest {
  const url = new URL(`http://footfall.test/v1/live?project=${project.id}${search}`);
  const headers = { Accept: "text/event-stream", ...init.headers };
  return { project, url, params: {}, request: new Request(url, { ...init, headers }) };
}

/** The messages of a stream, one at a time. */
export class Messages {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  readonly #decoder = new TextDecoder();
  #rest = "";

  constructor(response: Response) {
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    this.#reader = response.body!.getReader();
  }

  /** The next message as its fields (a comment under the empty name), or null at the end. */
  async next(): Promise<Record<string, string> | null> {
    while (!this.#rest.includes("\n\n")) {
      const { done, value } = await within(WAIT_MS_MAX, this.#reader.read(), "A message");
      if (done) return null;
      this.#rest += this.#decoder.decode(value, { stream: true });
    }
    const end = this.#rest.indexOf("\n\n");
    const lines = this.#rest.slice(0, end).split("\n");
    this.#rest = this.#rest.slice(end + 2);
    return Object.fromEntries(lines.map((line) => {
      const [, name, value] = /^([^:]*):? ?(.*)$/.exec(line)!;
      return [name, value];
    }));
  }

  async data(): Promise<unknown> {
    const message = await this.next();
    assert.equal(message?.event, "live", JSON.stringify(message));
    return JSON.parse(message!.data!);
  }

  leave(): Promise<void> {
    return this.#reader.cancel();
  }
}

/** Whether what was thrown is a problem of this code. */
export const isProblem = (code: string) => (error: unknown) => {
  assert(error instanceof Problem, String(error));
  assert.equal(error.code, code);
  return true;
};
