import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const START_MS_MAX = 60_000;
export const PUBLIC_KEY = "pk_recipes_0123456789";

export interface StoredEvent {
  readonly name: string;
  readonly path: string | null;
  readonly userId: string | null;
  readonly properties: { readonly server: { readonly ip: string | null } };
}

/** A Footfall of its own below /analytics, on the embedded database, behind proxies on 127.0.0.1. */
export class RecipeServer implements AsyncDisposable {
  private constructor(
    readonly child: Deno.ChildProcess,
    readonly url: string,
    readonly token: string,
  ) {}

  static async start(dataDir: string): Promise<RecipeServer> {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-P=serve", "--quiet", "main.ts", "serve"],
      cwd: ROOT,
      env: {
        PORT: "0",
        HOST: "127.0.0.1",
        BASE_PATH: "/analytics",
        TRUSTED_PROXIES: "127.0.0.1",
        DATA_DIR: dataDir,
        DATABASE_URL: "",
        DEFAULT_API_KEY: PUBLIC_KEY,
      },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const deadline = performance.now() + START_MS_MAX;
    while (performance.now() < deadline) {
      const text = await Deno.readTextFile(join(dataDir, "control.json")).catch(() => null);
      if (text !== null) {
        const { url, token } = JSON.parse(text);
        return new RecipeServer(child, url, token);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    child.kill("SIGKILL");
    throw new Error("Footfall does not start");
  }

  /** Without the base path, as the recipes print it. */
  get origin(): string {
    return new URL(this.url).origin;
  }

  async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const reply = await fetch(`${this.url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
    return await reply.json();
  }

  async events(): Promise<readonly StoredEvent[]> {
    const path = "/v1/events?project=prj_default&bots=include&limit=1000";
    return (await this.ask<{ events: StoredEvent[] }>("GET", path)).events;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGTERM");
    await this.child.status;
  }
}
