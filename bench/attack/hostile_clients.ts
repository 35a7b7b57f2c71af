import { fileURLToPath } from "node:url";
import { API_KEY } from "../../tests/support/server_process.ts";
import type { BodiesOrder, BodiesResult } from "./bodies_worker.ts";
import type { Attack } from "./ground.ts";

const WORKER = fileURLToPath(new URL("./bodies_worker.ts", import.meta.url));

/** Starts the clients in a process of their own. Resolves once they begin; `end` is what they got. */
export async function startBodies(
  order: BodiesOrder,
): Promise<{ readonly end: Promise<BodiesResult> }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", WORKER, JSON.stringify(order)],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const begun = Promise.withResolvers<void>();
  const read = async (): Promise<BodiesResult> => {
    let text = "";
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
      text += part;
      if (text.includes("\n")) begun.resolve();
    }
    if (!(await child.status).success) throw new Error("the attackers failed");
    return JSON.parse(text.slice(text.indexOf("\n")));
  };
  const end = read();
  end.catch(begun.reject);
  await begun.promise;
  return { end };
}

function attackWith(
  name: string,
  { bodies, apiKey }: Pick<BodiesOrder, "bodies" | "apiKey">,
): Attack {
  return {
    name,
    engines: ["postgres", "embedded"],
    run: async ({ port, short }) => {
      const seconds = short ? 3 : 20;
      const order = { port, bodies, apiKey, attackers: 50, seconds, pauseMs: 0 };
      const { replies } = await (await startBodies(order)).end;
      return Object.entries(replies).map(([told, count]) => `${count} × ${told}`).join(", ");
    },
  };
}

/** Keys that do not exist, each another one. */
export const MADE_UP_KEYS = attackWith("made_up_keys", { bodies: "keys", apiKey: null });
/** As much as one body may hold, from somebody who read the key off a page. */
export const COSTLIEST_BODIES = attackWith("costliest_bodies", {
  bodies: "costliest",
  apiKey: API_KEY,
});
