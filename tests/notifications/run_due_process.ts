/** A server that looks once at what is due to be told, and ends: for tests that kill it meanwhile. */
import { TestApp } from "../support/app.ts";

const named = ["DATABASE_URL", "READ_TIMEOUT_MS"].map((name) => [name, Deno.env.get(name) ?? ""]);
const app = await new TestApp(Object.fromEntries(named)).start();
await app.app.runDue();
await app.stop();
