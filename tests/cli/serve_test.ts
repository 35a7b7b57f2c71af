import assert from "node:assert/strict";
import { onFreshEngines } from "../support/databases.ts";
import { startServer } from "../support/server_process.ts";

const WARNING = /"message":"the limit of open files is low: [^"]*at least 512","filesMax":(\d+)/;

onFreshEngines(
  "serve: few descriptors are warned of at the start where the embedded engine needs them",
  async (t, db) => {
    const isEmbedded = t.name.endsWith("[embedded]");
    {
      await using server = await startServer(db.env, { descriptorsMax: 400 });
      const filesMax = Number(WARNING.exec(server.errorOutput)?.[1] ?? 0);
      assert.ok(isEmbedded ? filesMax > 300 && filesMax < 400 : filesMax === 0, server.errorOutput);
      assert.equal(await server.stop(), 0);
    }
    await using server = await startServer(db.env, { descriptorsMax: 512 });
    assert.doesNotMatch(server.errorOutput, WARNING);
    assert.equal(await server.stop(), 0);
  },
);
