import assert from "node:assert/strict";
import type { Database } from "../../../src/db/sql.ts";
import { type ActorServices, deleteActor } from "../../../src/reports/people/actors.ts";
import { PROJECT_ONE } from "../../support/event_rows.ts";

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
