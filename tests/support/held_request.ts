import { join } from "node:path";

/** One request of a program, and whether the program is held before it or once it is answered. */
export interface HeldAt {
  /** As `shortName` below tells it, such as `POST /v1/move pause`. */
  readonly request: string;
  readonly when: "before" | "after";
  /** The how-manieth of that name; absent: the first. */
  readonly nth?: number;
}

/** What runs before the program. It stands alone: the program's permissions name no variable for it. */
function holding({ request, when, nth = 1 }: HeldAt, folder: string): string {
  return `
const folder = ${JSON.stringify(folder)};
const send = globalThis.fetch;
const has = (name) => Deno.stat(folder + "/" + name).then(() => true, () => false);

function shortName(url, init) {
  const { pathname, searchParams } = new URL(url);
  const asked = searchParams.get("part") ?? searchParams.get("kind") ?? "";
  const part = searchParams.has("since") ? "since" : asked;
  const action = typeof init.body === "string" ? JSON.parse(init.body).action ?? "" : "";
  const path = pathname.slice(Math.max(0, pathname.indexOf("/v1/")));
  return [init.method ?? "GET", path, part, action].filter((word) => word !== "").join(" ");
}

let left = ${nth};

async function hold(name, when) {
  if (name !== ${JSON.stringify(request)} || when !== ${JSON.stringify(when)}) return;
  if (--left > 0) return;
  await Deno.writeTextFile(folder + "/held", "");
  while (!await has("released")) await new Promise((resolve) => setTimeout(resolve, 20));
}

globalThis.fetch = async (url, init = {}) => {
  const name = shortName(url, init);
  await Deno.writeTextFile(folder + "/requests", name + "\\n", { append: true });
  await hold(name, "before");
  const reply = await send(url, init);
  await hold(name, "after");
  return reply;
};
`;
}

const exists = (path: string) => Deno.stat(path).then(() => true, () => false);

/**
 * A module that is run before a command (`preload`) and holds it at one of its requests: whoever waits
 * for that knows how far the command is, whatever the machine's pace.
 */
export class HeldRequest implements AsyncDisposable {
  private constructor(readonly folder: string) {}

  static async at(at: HeldAt): Promise<HeldRequest> {
    const folder = await Deno.makeTempDir({ prefix: "footfall-held-" });
    await Deno.writeTextFile(join(folder, "hold.js"), holding(at, folder));
    return new HeldRequest(folder);
  }

  get preload(): string {
    return join(this.folder, "hold.js");
  }

  /** Whether the program is there. */
  reached(): Promise<boolean> {
    return exists(join(this.folder, "held"));
  }

  /** Lets the program go on. */
  async release(): Promise<void> {
    await Deno.writeTextFile(join(this.folder, "released"), "");
  }

  /** What the program has asked for so far. */
  async requests(): Promise<string[]> {
    const text = await Deno.readTextFile(join(this.folder, "requests")).catch(() => "");
    return text.split("\n").filter((line) => line !== "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}
