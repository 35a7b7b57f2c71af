import assert from "node:assert/strict";
import { onFreshEngines } from "../support/databases.ts";
import { assertStored, Load } from "../support/load.ts";
import { pause, type ServerProcess, startServer, until } from "../support/server_process.ts";
import { post, postHead, RawConnection, type RawReply } from "./raw_connection.ts";

const STOP_MS_MAX = 10_000;
const CONNECTIONS = 20;

/** Connections that have had an answer and have now sent a whole request, and what comes back. */
async function requestsUnderWay(
  server: ServerProcess,
  load: Load,
  stack: DisposableStack,
): Promise<() => Promise<void>> {
  const connections: RawConnection[] = [];
  for (let i = 0; i < CONNECTIONS; i++) {
    const connection = stack.use(await RawConnection.open(server.port));
    await connection.send(post('{"events":[]}'));
    assert.equal((await connection.reply()).status, 200);
    connections.push(connection);
  }
  const batches = connections.map(() => load.batch());
  await Promise.all(
    connections.map((each, i) => each.send(post(JSON.stringify({ events: batches[i] })))),
  );
  return async () => {
    const replies = await Promise.all(connections.map((each) => each.reply(STOP_MS_MAX)));
    replies.forEach((reply, i) => {
      if (reply.status === 200) {
        for (const event of batches[i]!) load.acknowledged.add(event.eventId);
      } else assertStopping(reply);
    });
  };
}

function assertStopping(reply: RawReply): void {
  assert.equal(`${reply.status} ${reply.code}`, "503 shutting_down");
  assert.match(reply.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  onFreshEngines(
    `${signal}: answers what is under way, loses nothing, ends with 0`,
    async (_t, db) => {
      await using server = await startServer(db.env);
      await using load = new Load(() => server.url, { clients: 4, eventsPerBatch: 50 });
      load.start();
      await until(20_000, () => Promise.resolve(load.acknowledged.size > 500), "load");

      using stack = new DisposableStack();
      const halfBody = stack.use(await RawConnection.open(server.port));
      await halfBody.send(postHead({ "Content-Length": 1000 }) + '{"events":[');
      const halfHead = stack.use(await RawConnection.open(server.port));
      await halfHead.send("POST /v1/events HTTP/1.1\r\nHost: footf");
      stack.use(await RawConnection.open(server.port));
      await pause(50);
      const answered = await requestsUnderWay(server, load, stack);

      const signalledAt = performance.now();
      const stopped = server.stop(signal);
      const [, half, code] = await Promise.all([answered(), halfBody.reply(STOP_MS_MAX), stopped]);
      assertStopping(half);
      assert.equal(code, 0, server.errorOutput);
      assert(performance.now() - signalledAt < STOP_MS_MAX, "stopping took too long");
      await load[Symbol.asyncDispose]();

      // The folder is free at once, and nothing that was acknowledged is missing.
      await assertStored(await db.open(), load);
    },
  );
}
