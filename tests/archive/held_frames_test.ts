import { assertProblem, sharedApp } from "../support/app.ts";

const app = sharedApp();

Deno.test("restorations: a frame that is held until its token is revoked stores nothing", async () => {
  const token = await app.token(["*"], "read write jobs admin people");
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(new Uint8Array(1));
      await over;
      controller.close();
    },
  });
  const held = app.fetch("/v1/restorations/frames?archive=held&kind=rows", {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
    body,
  });
  // In which it is allowed; then every server knows within a second.
  await new Promise((resolve) => setTimeout(resolve, 500));
  await app.admin("DELETE", "/v1/internal/tokens");
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  end();
  assertProblem(await held, 401, "invalid_token");
});
