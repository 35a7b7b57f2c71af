import { ALLOWED_BODY_MS_MAX } from "../../src/http/still_allowed.ts";
import { assertProblem, sharedApp } from "../support/app.ts";
import { HeldBody } from "../support/held_body.ts";
import { pause } from "../support/server_process.ts";

const app = sharedApp();

Deno.test("restorations: a frame that is held until its token is revoked stores nothing", async () => {
  const token = await app.token(["*"], "read write jobs admin people");
  const body = new HeldBody(new Uint8Array(2));
  const held = app.fetch("/v1/restorations/frames?archive=held&kind=rows", {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
    body: body.stream,
  });
  await body.begun;
  await app.admin("DELETE", "/v1/internal/tokens");
  await pause(ALLOWED_BODY_MS_MAX);
  body.end();
  assertProblem(await held, 401, "invalid_token");
});
