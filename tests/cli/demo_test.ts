import assert from "node:assert/strict";
import { PAGE_BOXES } from "../../src/demo/visitors/layout.ts";
import { makeDataDir } from "../support/embedded_template.ts";
import { until } from "../support/server_process.ts";
import { type Control, ended, footfall, run, serverReady } from "./footfall_process.ts";

const WAIT_MS_MAX = 60_000;

async function ask({ url, token }: Control, path: string) {
  const reply = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal(reply.status, 200, path);
  return await reply.json();
}

async function besideServer(work: (dataDir: string, server: Control) => Promise<void>) {
  const dataDir = await makeDataDir("footfall-demo-");
  const server = footfall(dataDir, ["serve"]);
  const stopped = ended(server);
  try {
    await work(dataDir, await serverReady(dataDir));
  } finally {
    server.kill("SIGTERM");
    await stopped;
    await Deno.remove(dataDir, { recursive: true });
  }
}

/** Reads what a running command prints, up to `wanted`. */
async function printed(out: ReadableStreamDefaultReader<string>, wanted: RegExp): Promise<string> {
  let text = "";
  for (;;) {
    const found = wanted.exec(text)?.[0];
    if (found !== undefined) return found;
    const { value, done } = await out.read();
    assert.ok(!done, text);
    text += value;
  }
}

Deno.test("footfall seed: one shop, with pictures, goals, a funnel, and somebody on it", () =>
  besideServer(async (dataDir, server) => {
    const args = ["seed", "--weeks", "2", "--visitors", "200", "--json"];
    const { code, out, errors } = await run(dataDir, args);
    assert.equal(code, 0, errors);
    const summary = JSON.parse(out);
    assert.deepEqual(summary.pictures, { taken: 18, reason: null });

    const heatmap = await ask(server, "/v1/heatmaps?project=prj_demo&path=/&device=desktop");
    const { documentHeightPx, boxes } = PAGE_BOXES.home.desktop;
    assert.deepEqual([heatmap.capture.status, heatmap.capture.width], ["captured", 1440]);
    assert.ok(Math.abs(heatmap.capture.height - documentHeightPx) <= 3);
    const [hottest] = heatmap.points.toSorted((a: { count: number }, b: { count: number }) =>
      b.count - a.count
    );
    const inside = Object.values(boxes).some((box) =>
      hottest.x >= box.left - 0.01 && hottest.x <= box.left + box.width + 0.01 &&
      hottest.y >= box.topPx - 10 && hottest.y <= box.topPx + box.heightPx + 10
    );
    assert.ok(inside, "the clicks lie on what the picture shows");

    const live = await ask(server, "/v1/live?project=prj_demo");
    assert.ok(live.visitors.last5Minutes > 0 || live.visitors.last30Minutes > 0);
    const { goals } = await ask(server, "/v1/goals?project=prj_demo");
    assert.ok(goals.find(({ slug }: { slug: string }) => slug === "purchase").totalConversions > 0);
    const funnel = await ask(server, "/v1/funnels/checkout?project=prj_demo");
    assert.ok(funnel.entered > 0 && funnel.converted > 0);
    const { notes } = await ask(server, "/v1/notes?project=prj_demo");
    assert.ok(notes.length > 1, "its charts have notes");
    const { segments } = await ask(server, "/v1/segments?project=prj_demo");
    const slugs: string[] = segments.map((segment: { slug: string }) => segment.slug);
    assert.ok(slugs.includes("buyers"), slugs.join());
    for (const segment of ["phones-from-search", "buyers"]) {
      const { totals } = await ask(server, `/v1/kpis?project=prj_demo&segment=${segment}`);
      assert.ok(totals.visitors > 0, segment);
    }
    const { totals } = await ask(server, "/v1/vitals?project=prj_demo");
    assert.ok(totals.pageViews > 0, "how fast its pages are is measured");
    const { digests } = await ask(server, "/v1/digests?project=prj_demo");
    assert.deepEqual(digests.map(({ problem }: { problem: null }) => problem), [null]);
    const deliveries = async (): Promise<{ source: string; channel: string; status: string }[]> =>
      (await ask(server, "/v1/deliveries?project=prj_demo")).rows;
    // The server looks at alerts within a minute.
    const raised = async () => (await deliveries()).some(({ source }) => source === "alert");
    await until(2 * WAIT_MS_MAX, raised, "an alert has fired");
    assert.ok((await deliveries()).every(({ channel }) => channel === "log"), "nothing is sent");
    const { actor } = await ask(server, "/v1/actors/user-42?project=prj_demo");
    assert.equal(actor.userId, "user-42", "the manual's example is there");
  }));

Deno.test("footfall demo: opens the shop, people walk about in it, and its key ends with it", () =>
  besideServer(async (dataDir, server) => {
    const demo = footfall(dataDir, ["demo", "--port", "0", "--json"]);
    const out = demo.stdout.pipeThrough(new TextDecoderStream()).getReader();
    try {
      const url = await printed(out, /http:\/\/localhost:\d+/);
      const page = await (await fetch(`${url}/products/ethiopia-guji`)).text();
      const key = /data-api-key="(pk_[^"]+)"/.exec(page)?.[1];
      assert.ok(key !== undefined && page.includes(`src="${server.url}/sdk.js"`));

      const present = async () =>
        (await ask(server, "/v1/live?project=prj_demo")).visitors.last5Minutes > 0;
      await until(WAIT_MS_MAX, present, "somebody is there");
      const own = { eventId: crypto.randomUUID(), name: "page_view", url: `${url}/sale` };
      const sent = await fetch(`${server.url}/v1/events`, {
        method: "POST",
        headers: { "X-API-Key": key!, "Content-Type": "application/json" },
        body: JSON.stringify({ events: [{ ...own, anonymousId: "me" }] }),
      });
      assert.equal(sent.status, 200, await sent.text());
      const arrivals = await (await fetch(`${url}/arrivals`)).json();
      assert.deepEqual(arrivals, [{ name: "page_view", about: "/sale " }], "one's own alone");
    } finally {
      demo.kill("SIGINT");
      await out.cancel();
      await demo.stderr.cancel();
      await demo.status;
    }
    const { keys } = await ask(server, "/v1/projects/prj_demo/keys");
    assert.deepEqual(keys.map(({ status }: { status: string }) => status), ["revoked"]);
  }));

Deno.test("footfall demo: without a server it says what to do", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "footfall-demo-" });
  try {
    const { code, errors } = await run(dataDir, ["demo"]);
    assert.equal(code, 1);
    assert.match(errors, /No server answers .* Start one/);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
