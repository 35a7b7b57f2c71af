/** A server that looks once at what is due to be told, and ends: for tests that kill it meanwhile. */
import { TestApp } from "../support/app.ts";

const app = await new TestApp({ DATABASE_URL: Deno.env.get("DATABASE_URL") ?? "" }).start();
await app.app.tellDue();
await app.stop();
