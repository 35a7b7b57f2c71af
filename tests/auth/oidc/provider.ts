import { fileURLToPath } from "node:url";
import type { ProviderOrder } from "./provider_process.ts";

const PROCESS = fileURLToPath(new URL("./provider_process.ts", import.meta.url));

/** A running identity provider. */
export interface RunningProvider {
  readonly issuer: string;
  stop(): Promise<void>;
}

export async function startProvider(order: ProviderOrder): Promise<RunningProvider> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", PROCESS, JSON.stringify(order)],
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let said = "";
  let isStopped = false;
  const decoder = new TextDecoder();
  const reader = child.stdout.getReader();
  for (;;) {
    const issuer = /^http:\S+$/m.exec(said)?.[0];
    if (issuer !== undefined && said.endsWith("\n")) {
      return {
        issuer,
        async stop() {
          if (isStopped) return;
          isStopped = true;
          await reader.cancel();
          child.kill("SIGKILL");
          await child.status;
        },
      };
    }
    const { done, value } = await reader.read();
    if (done) throw new Error(`The provider ended: ${said}`);
    said += decoder.decode(value);
  }
}

/**
 * What a browser does at the provider: signs in as `login`, agrees, and is sent back.
 * @returns the address it is sent back to
 */
export async function signInThere(start: string, login: string, agrees = true): Promise<URL> {
  const jar = new Map<string, string>();
  const ask = async (url: URL, form?: Record<string, string>) => {
    const reply = await fetch(url, {
      redirect: "manual",
      method: form === undefined ? "GET" : "POST",
      headers: { Cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    });
    for (const cookie of reply.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
      jar.set(name!, value!);
    }
    return reply;
  };
  let url = new URL(start);
  const provider = url.origin;
  let reply = await ask(url);
  for (let step = 0; step < 20; step++) {
    const next = reply.headers.get("location");
    if (next !== null) {
      await reply.body?.cancel();
      url = new URL(next, url);
      if (url.origin !== provider) return url;
      reply = await ask(url);
      continue;
    }
    const page = await reply.text();
    const abort = /href="([^"]*\/abort)"/.exec(page)?.[1];
    if (!agrees && abort !== undefined) reply = await ask(new URL(abort, url));
    else {
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? "";
      const action = /<form[^>]* action="([^"]+)"/.exec(page)![1]!;
      reply = await ask(new URL(action, url), { prompt, login, password: "any" });
    }
  }
  throw new Error("The provider never sent the browser back");
}
