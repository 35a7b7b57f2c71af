/** Programs that hold a real published client, and what must have arrived of their events. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { type FaultyOptions, FaultyProxy } from "../support/faulty_proxy.ts";
import type { Json, TestApp, TestProject } from "../support/app.ts";

/** Their packages are told and locked by themselves: they are nothing that Footfall needs. */
export const CONFIG = fileURLToPath(new URL("./published/deno.json", import.meta.url));
const PROGRAMS = new URL("./published/programs/", import.meta.url);

/** A proxy in front of the server whose socket peer is the client's. */
export function faultyProxy(server: TestApp, options?: FaultyOptions) {
  return FaultyProxy.start((request, peer) => server.app.fetch(request, peer), options);
}

/** Runs a program of `published/programs/` to its end. @returns the JSON of its last line */
// deno-lint-ignore no-explicit-any -- each program says what it likes
export async function runProgram(name: string, args: readonly string[]): Promise<any> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--quiet",
      "--frozen",
      "--no-check",
      "--config",
      CONFIG,
      new URL(name, PROGRAMS).pathname,
      ...args,
    ],
    env: { NO_COLOR: "1" },
  }).output();
  const text = new TextDecoder().decode(stdout);
  assert.ok(success, `${name}: ${new TextDecoder().decode(stderr)}\n${text}`);
  return JSON.parse(text.trim().split("\n").at(-1) ?? "null");
}

/** Every fault has happened, and the server itself has refused nothing. */
export function assertFaults({ counts, statuses }: FaultyProxy): void {
  for (const fault of ["refused", "cut", "lost"] as const) {
    assert.ok(counts[fault] > 0, `no batch was ${fault}: ${JSON.stringify(counts)}`);
  }
  assert.deepEqual([...statuses.keys()], [200]);
}

/** All stored events of a project, page by page. */
export async function allStored(server: TestApp, project: TestProject): Promise<Json[]> {
  const found: Json[] = [];
  const year = new Date().getUTCFullYear();
  const query = {
    bots: "include",
    limit: "1000",
    from: `${year - 8}-01-01`,
    to: `${year + 1}-12-31`,
  };
  for (let cursor: string | null = ""; cursor !== null;) {
    const { status, body } = await server.read(
      project,
      cursor === "" ? query : { ...query, cursor },
    );
    assert.equal(status, 200, JSON.stringify(body));
    found.push(...body.events);
    cursor = body.nextCursor;
  }
  return found;
}

/** The numbers (`"number": 7`) of the events that the server has heard of. */
export function numbersIn({ bodies }: FaultyProxy): Set<number> {
  const found = new Set<number>();
  for (const body of bodies) {
    for (const [, number] of body.matchAll(/"number":(\d+)/g)) found.add(Number(number));
  }
  return found;
}
