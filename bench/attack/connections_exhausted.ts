import postgres from "postgres";
import { pause } from "../../tests/support/server_process.ts";
import type { Attack, Field } from "./ground.ts";

/** PostgreSQL takes so many in the throwaway cluster. */
const CONNECTIONS_MAX = 50;

async function exhaust({ cluster, server, short, progress }: Field): Promise<string> {
  const others = Array.from(
    { length: CONNECTIONS_MAX },
    () =>
      postgres(cluster!.url, { max: 1, idle_timeout: 0, connect_timeout: 5, onnotice: () => {} }),
  );
  try {
    const [first] = others;
    await first!`SELECT 1`;
    // The server's own connections end, so that it needs new ones, and there are none.
    const taken = async () => {
      await first!`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND application_name LIKE 'footfall%'`;
      const results = await Promise.allSettled(others.map((other) => other`SELECT 1`));
      return results.filter(({ status }) => status === "fulfilled").length;
    };
    let held = 0;
    for (let i = 0; i < 5; i++) held = await taken();
    progress(`${held} connections are taken`);
    await pause(short ? 5_000 : 30_000);
    const health = await fetch(`${server.url}/healthz`).then(({ status }) => status);
    return `${held} of ${CONNECTIONS_MAX} connections taken by others; /healthz ${health}`;
  } finally {
    await Promise.all(others.map((other) => other.end({ timeout: 1 })));
  }
}

/** Others have taken every connection of PostgreSQL. */
export const CONNECTIONS_EXHAUSTED: Attack = {
  name: "connections_exhausted",
  engines: ["postgres"],
  run: exhaust,
};
