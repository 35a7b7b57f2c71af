import { pause } from "../../tests/support/server_process.ts";
import type { Attack, Field } from "./ground.ts";

/** Some say nothing, some half a head, some half a body. */
const SAID = [
  "",
  "GET / HTTP/1.1\r\nHost: foot",
  "POST /v1/events HTTP/1.1\r\nHost: footfall.test\r\nX-API-Key: pk_guessed\r\nContent-Length: 900\r\n\r\n{",
];
const AT_ONCE = 200;

/** Opens them as fast as they are accepted, and keeps them open for `heldMs`. */
async function openMany({ port, progress }: Field, count: number, heldMs: number) {
  const open: Deno.Conn[] = [];
  let refused = 0;
  const encoder = new TextEncoder();
  try {
    for (let i = 0; i < count; i += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, async (_, j) => {
        try {
          const connection = await Deno.connect({ hostname: "127.0.0.1", port });
          open.push(connection);
          const said = SAID[j % SAID.length]!;
          if (said !== "") await connection.write(encoder.encode(said));
        } catch {
          refused++;
        }
      }));
      if (i % 4_000 === 0) progress(`${open.length} connections`);
    }
    progress(`${open.length} connections, held`);
    await pause(heldMs);
  } finally {
    for (const connection of open) {
      try {
        connection.close();
      } catch {
        // The server has closed it.
      }
    }
  }
  return { opened: open.length, refused };
}

/** 20,000 clients that open a connection and never finish a request. */
export const SILENT_CONNECTIONS: Attack = {
  name: "silent_connections",
  engines: ["postgres", "embedded"],
  run: async (field) => {
    const { opened, refused } = await openMany(
      field,
      field.short ? 4_000 : 20_000,
      field.short ? 3_000 : 30_000,
    );
    return `${opened} connections opened, ${refused} refused`;
  },
};

/** More clients than the process has descriptors for. */
export const DESCRIPTORS: Attack = {
  name: "descriptors",
  engines: ["postgres", "embedded"],
  server: { descriptorsMax: 256 },
  run: async (field) => {
    const { opened } = await openMany(field, 2_000, field.short ? 3_000 : 30_000);
    return `${opened} connections to a process of 256 descriptors`;
  },
};
