import { exportSPKI, generateKeyPair } from "jose";
import { assertProblem, TestApp } from "../support/app.ts";
import { enter } from "./shared_shop.ts";

Deno.test("share: refused if an identity provider issues the tokens", async () => {
  const { publicKey } = await generateKeyPair("ES256", { extractable: true });
  const env = { JWT_SECRET: "", JWT_PUBLIC_KEY: await exportSPKI(publicKey) };
  const app = await new TestApp(env).start();
  try {
    assertProblem(await enter(app, `shr_${"x".repeat(32)}`), 409, "conflict");
    const made = await app.admin("POST", "/v1/projects/prj_default/shares", { title: "Board" });
    assertProblem(made, 409, "conflict");
  } finally {
    await app.stop();
  }
});
