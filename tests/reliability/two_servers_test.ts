import assert from "node:assert/strict";
import { onBothEngines } from "../support/databases.ts";
import { assertStored, Load, postBatch } from "../support/load.ts";
import {
  API_KEY,
  operatorToken,
  pause,
  ServerProcess,
  startServer,
  until,
} from "../support/server_process.ts";

const PROJECT = "/v1/projects/prj_default";

/** A change of a key has to be known everywhere within this. */
const KEY_CHANGE_MS_MAX = 1_000;

async function postOne(url: string, key: string): Promise<number> {
  const reply = await fetch(`${url}/v1/events`, {
    method: "POST",
    headers: { "X-API-Key": key },
    body: JSON.stringify({ events: [{ eventId: crypto.randomUUID() }] }),
  });
  await reply.body?.cancel();
  return reply.status;
}

async function administer(url: string, method: string, path: string, body?: unknown) {
  const reply = await fetch(url + path, {
    method,
    headers: {
      "Authorization": `Bearer ${await operatorToken()}`,
      "Content-Type": "application/json",
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  assert(reply.ok, `${method} ${path}: ${reply.status} ${text}`);
  return text === "" ? null : JSON.parse(text);
}

