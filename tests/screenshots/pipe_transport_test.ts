import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { PipeTransport } from "../../src/screenshots/browser/pipe_transport.ts";
import { CAPTURE_MESSAGE_BYTES_MAX } from "../../src/screenshots/capture_limits.ts";
import { until } from "../support/server_process.ts";

const WAIT_MS_MAX = 20_000;
const CHUNK_BYTES = 1024 * 1024;
const CHUNKS_MAX = CAPTURE_MESSAGE_BYTES_MAX / CHUNK_BYTES;

/** A transport, what it has told, and the browser's end of its pipes. */
function opened() {
  const [out, incoming] = [new PassThrough(), new PassThrough()];
  const transport = new PipeTransport(out, incoming);
  const told = { messages: [] as number[], closed: 0 };
  transport.onmessage = (message) => told.messages.push(message.length);
  transport.onclose = () => told.closed++;
  const say = (bytes: Uint8Array) =>
    new Promise<void>((done) => incoming.write(bytes, () => done()));
  return { told, say, incoming, out };
}

const chunk = new Uint8Array(CHUNK_BYTES).fill(0x20);
const END = new Uint8Array(1);

Deno.test("PipeTransport: messages arrive whole, however they are cut, up to the largest", async () => {
  const { told, say, incoming } = opened();
  await say(new TextEncoder().encode("{}\0[1,2]\0[3"));
  await say(new TextEncoder().encode(",4]\0"));
  for (let i = 0; i < CHUNKS_MAX; i++) await say(chunk);
  await say(END);
  await say(new TextEncoder().encode("{}\0"));
  await until(WAIT_MS_MAX, () => Promise.resolve(told.messages.length === 5), "all are told");
  assert.deepEqual(told, { messages: [2, 5, 5, CAPTURE_MESSAGE_BYTES_MAX, 2], closed: 0 });
  incoming.destroy();
});

Deno.test("PipeTransport: a larger message ends the connection, and is not kept", async () => {
  const { told, say, incoming, out } = opened();
  for (let i = 0; i < CHUNKS_MAX; i++) await say(chunk);
  assert.equal(told.closed, 0);
  incoming.write(new TextEncoder().encode(" \0{}\0"));
  await until(WAIT_MS_MAX, () => Promise.resolve(told.closed > 0), "it ends");
  assert.deepEqual(told, { messages: [], closed: 1 });
  assert.ok(incoming.destroyed && out.destroyed);
});
