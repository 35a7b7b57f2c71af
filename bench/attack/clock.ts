import { fileURLToPath } from "node:url";
import { pause } from "../../tests/support/server_process.ts";
import type { Attack } from "./ground.ts";

/** The server's clock goes back by an hour while it works. */
export const CLOCK: Attack = {
  name: "clock",
  engines: ["postgres", "embedded"],
  server: {
    preload: fileURLToPath(new URL("../../tests/support/moved_clock.ts", import.meta.url)),
  },
  run: async ({ server, short }) => {
    await pause(2_000);
    Deno.kill(server.pid, "SIGUSR2");
    await pause(short ? 5_000 : 60_000);
    return "the clock went back by an hour";
  },
};
