import { SignJWT } from "jose";
import { JWT_SECRET, pause } from "../../tests/support/server_process.ts";
import { type Attack, type Field, PROJECT } from "./ground.ts";

const STREAMS = 300;
const AT_ONCE = 10;

function readToken(subject: string): Promise<string> {
  return new SignJWT({ projects: [PROJECT], scope: "read" })
    .setProtectedHeader({ alg: "HS256" }).setSubject(subject).setExpirationTime("1h")
    .sign(new TextEncoder().encode(JWT_SECRET));
}

async function takeSeats({ url, short }: Field): Promise<string> {
  const leaving = new AbortController();
  /** A reply that nobody holds is collected, and its stream ends. */
  const open: Response[] = [];
  const stream = async (token: string, i: number) => {
    const filters = JSON.stringify([{ field: "path", op: "is", values: [`/p/${i}`] }]);
    const reply = await fetch(
      `${url}/v1/live?${new URLSearchParams({ project: PROJECT, filters })}`,
      {
        headers: { "Authorization": `Bearer ${token}`, "Accept": "text/event-stream" },
        signal: leaving.signal,
      },
    );
    open.push(reply);
    return reply.status;
  };
  const statuses = new Map<number, number>();
  const greedy = await readToken("greedy");
  const streams = short ? STREAMS / 3 : STREAMS;
  for (let i = 0; i < streams; i += AT_ONCE) {
    const asked = Array.from({ length: AT_ONCE }, (_, j) => stream(greedy, i + j));
    for (const status of await Promise.all(asked)) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  }
  const other = await stream(await readToken("other"), 0);
  await pause(short ? 5_000 : 30_000);
  leaving.abort();
  open.length = 0;
  const told = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
  return `${streams} streams by one token: ${told}; another token's stream: ${other}`;
}

/** One token that may read asks for every seat there is, each with a filter of its own. */
export const LIVE_SEATS: Attack = {
  name: "live_seats",
  engines: ["postgres", "embedded"],
  run: takeSeats,
};
