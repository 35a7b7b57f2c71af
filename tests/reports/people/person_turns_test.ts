import assert from "node:assert/strict";
import type { Database } from "../../../src/db/sql.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import type { Problem } from "../../../src/problem.ts";
import { type ActorServices, deleteActor, getActor } from "../../../src/reports/people/actors.ts";
import {
  inNextPersonTurn,
  inPersonTurn,
  PERSON_TURN_MS_MAX,
} from "../../../src/reports/people/person_turns.ts";
import { erasePerson } from "../../../src/upgrade/earlier_people.ts";
import { onBothEngines } from "../../support/databases.ts";
import { newRow, openWithProjects, PROJECT_ONE } from "../../support/event_rows.ts";

Deno.test("persons: those of one project are erased one by one, and another's beside them", async () => {
  const held: { projectId: number; end: () => void }[] = [];
  const services: ActorServices = {
    database: { engine: "postgres" } as Database,
    projection: { catchUp: () => Promise.resolve() },
    movePerson: () => Promise.resolve(),
    erase: async (projectId) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.push({ projectId, end: resolve });
      await promise;
      return 1;
    },
  };
  const erase = (projectId: number, id: string) =>
    deleteActor(services, {
      project: { ...PROJECT_ONE, projectId },
      params: { id },
      also: () => Promise.resolve(),
    });
  const settled = () => new Promise((resolve) => setTimeout(resolve, 0));
  const all = [
    ...["a", "b", "c", "d", "e"].map((id) => erase(1, id)),
    ...["f", "g"].map((id) => erase(2, id)),
    erase(3, "h"),
  ];
  const order: number[] = [];
  for (let ended = 0; ended < all.length; ended++) {
    await settled();
    assert.ok(held.length <= ended + 2, "two at once");
    order.push(held[ended]!.projectId);
    held[ended]!.end();
  }
  await Promise.all(all);
  assert.deepEqual(order, [1, 2, 1, 3, 2, 1, 1, 1]);
});

Deno.test("persons: who is gone, or waits too long, is refused; what has begun goes on", async (t) => {
  const database = { engine: "embedded" } as Database;
  const held = Promise.withResolvers<void>();
  const order: string[] = [];
  const work = (name: string) => () => {
    order.push(name);
    return Promise.resolve();
  };
  const first = inPersonTurn(database, 1, null, () => held.promise);
  const waits: { ms: number; over: () => void }[] = [];
  const { setTimeout } = globalThis;
  const timed = (begin: () => Promise<unknown>) => {
    globalThis.setTimeout = ((over: () => void, ms: number) => {
      waits.push({ ms, over });
      return 0;
    }) as typeof setTimeout;
    try {
      return begin();
    } finally {
      globalThis.setTimeout = setTimeout;
    }
  };
  const gone = new AbortController();
  const late = timed(() => inPersonTurn(database, 1, null, work("late")));
  const left = inPersonTurn(database, 1, gone.signal, work("left"));
  const others = [
    inPersonTurn(database, 1, null, work("other")),
    inNextPersonTurn(database, 1, null, work("next part")),
  ];
  const refused = ({ code, options }: Problem) =>
    code === "overloaded" && options.headers?.["Retry-After"] === "2";
  await t.step("gone", async () => {
    gone.abort();
    await assert.rejects(left, refused);
    await assert.rejects(inPersonTurn(database, 1, gone.signal, work("gone")), refused);
  });
  await t.step("too late", async () => {
    assert.deepEqual(waits.map(({ ms }) => ms), [PERSON_TURN_MS_MAX]);
    waits[0]!.over();
    await assert.rejects(late, refused);
  });
  held.resolve();
  await Promise.all([first, ...others]);
  assert.deepEqual(order, ["next part", "other"]);
});

/** Stores jane, whose identity is the last one; `replaceJane` erases her, and stores an event of `next`. */
async function withJane(database: Database, next = "joe") {
  const projection = createProjection(database);
  const store = async (user: string) => {
    await insertEvents(database, [newRow({ user_id: user })]);
    await projection.catchUp(1);
  };
  const services: ActorServices = {
    database,
    projection,
    movePerson: () => Promise.resolve(),
    erase: (...asked) => erasePerson(database, ...asked),
  };
  await store("bob");
  await store("jane");
  const asked = { project: PROJECT_ONE, params: { id: "jane" } };
  const replaceJane = async (erase = services.erase) => {
    const erased = async (...given: Parameters<typeof erase>) => {
      const events = await erase(...given);
      await store(next);
      return events;
    };
    await deleteActor({ ...services, erase: erased }, { ...asked, also: () => Promise.resolve() });
  };
  return { services, asked, replaceJane };
}

onBothEngines("persons: whoever asks behind an erasure is shown nobody", async (_t, db) => {
  const { services, asked, replaceJane } = await withJane(await openWithProjects(db));
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const erasing = replaceJane(async (...given) => {
    begun.resolve();
    await held.promise;
    return await services.erase(...given);
  });
  await begun.promise;
  const shown = assert.rejects(getActor(services, asked), { code: "not_found" });
  // It comes to its turn, and waits.
  await new Promise((resolve) => setTimeout(resolve, 100));
  held.resolve();
  await Promise.all([erasing, shown]);
});

for (const [next, title] of [["joe", "is erased"], ["jane", "is erased, and comes back"]]) {
  onBothEngines(`persons: an export breaks off where its person ${title}`, async (_t, db) => {
    const { services, asked, replaceJane } = await withJane(await openWithProjects(db), next);
    const whole = await (await getActor(services, asked)).json();
    assert.equal(whole.events.length, 1);
    const reply = await getActor(services, asked);
    await replaceJane();
    await assert.rejects(reply.json(), { code: "not_found" });
  });
}
