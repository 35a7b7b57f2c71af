import type { Call, Command } from "./command.ts";
import { callApi, withConnection } from "./connection.ts";

/** Connects, which migrates the database; a running server has migrated it before it answers. */
async function migrate(call: Call): Promise<void> {
  await withConnection(call, () => Promise.resolve());
  call.print.result({ migrated: true }, () => "The database is up to date.\n");
}

async function openapi(call: Call): Promise<void> {
  const document = await withConnection(
    call,
    (connection) => callApi<unknown>(connection, "GET", "/v1/openapi.json"),
  );
  call.print.result(document, () => `${JSON.stringify(document, null, 2)}\n`);
}

export const MIGRATE_COMMAND: Command = {
  name: "migrate",
  summary: "Bring the database up to date (serve does so by itself)",
  usage: "footfall migrate",
  wordsMax: 0,
  options: {},
  example: "footfall migrate",
  run: migrate,
};

export const OPENAPI_COMMAND: Command = {
  name: "openapi",
  summary: "Print the OpenAPI document of the HTTP API",
  usage: "footfall openapi",
  wordsMax: 0,
  options: {},
  example: "footfall openapi > openapi.json",
  run: openapi,
};
