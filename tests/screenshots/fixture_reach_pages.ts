import { API_KEY } from "../support/server_process.ts";
import { page, type Pages, redirect, WORDS } from "./fixture_answers.ts";

/** What a library of Segment's sends. */
export const OTHER_CLIENT_EVENT = JSON.stringify({
  ...{ type: "track", event: "Tried", anonymousId: "anon-1", writeKey: API_KEY },
});

const FORM = `<form><h1>Sign in</h1><label>Name <input></label>` +
  `<label>Password <input type="password"></label><button>Sign in</button></form>`;
const PUBLIC = `<h1>A public page</h1><p>${WORDS}</p><p>${WORDS}</p><p>${WORDS}</p>`;

function script(text: string): Response {
  return page(`${PUBLIC}<script>${text}</script>`);
}

function silentUntil(signal: AbortSignal): Promise<Response> {
  const late = () => new Response("late");
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(late()), { once: true })
  );
}

/** Pages that cannot be photographed, or look as if. */
export const REACH_PAGES: Pages = {
  "/basic": () =>
    new Response("No", { status: 401, headers: { "WWW-Authenticate": `Basic realm="x"` } }),
  "/forbidden": () => page("<h1>No</h1>", {}, 403),
  "/gone": () => page("<h1>Gone</h1>", {}, 410),
  "/broken": () => page("<h1>Oops</h1>", {}, 500),
  "/challenge": () => page("<h1>Just a moment</h1>", { "cf-mitigated": "challenge" }, 403),

  "/login": () => page(FORM),
  "/private": () => redirect("/login?next=/private"),
  "/script-private": () => script(`setTimeout(() => location.replace("/login"), 150)`),
  "/refresh-private": () =>
    page(`<meta http-equiv="refresh" content="1;url=/login"><p>One moment</p>`),
  "/replaced": () =>
    script(`history.replaceState(null, "", "/login");
    document.body.innerHTML = ${JSON.stringify(FORM)};`),
  "/own-form": () => page(FORM),
  "/small-form": () =>
    page(
      `<form><input placeholder="Name"><input type="password"><button>Go</button></form>${PUBLIC}`,
    ),

  "/loop": () => redirect("/loop"),
  "/script-loop": () => script(`location.replace("/script-loop?" + Math.random())`),
  "/away": () => redirect("http://127.0.0.2/"),
  "/inside": () => redirect("http://10.0.0.1/"),
  "/elsewhere": () => redirect("http://nowhere.invalid/"),

  "/empty": () => new Response(null, { status: 204 }),
  "/document": () =>
    new Response("%PDF-1.4\n%%EOF", { headers: { "Content-Type": "application/pdf" } }),
  "/data": () => Response.json({ a: 1 }),
  "/to-mail": () => redirect("mailto:shop@shop.example"),
  "/download": () => new Response("PK", { headers: { "Content-Type": "application/zip" } }),
  "/attachment": () =>
    page("<p>A file</p>", { "Content-Disposition": `attachment; filename="a.html"` }),
  /** A public page that sends a file by itself. */
  "/download-page": () => script(`setTimeout(() => location.href = "/download", 50)`),

  "/endless": () => script("for (;;) {}"),
  "/bomb": () =>
    script(`const all = [];
      for (;;) all.push(Array.from({ length: 10000 }, () => ({ number: Math.random() })));`),
  "/buffers": () => script("const all = []; for (;;) all.push(new Uint8Array(1e8).fill(1));"),
  "/crash": () => script(`setTimeout(() => { location.href = "chrome://crash"; }, 0)`),
  "/alerts": () =>
    script(`alert(1); confirm(2); prompt(3);
      addEventListener("beforeunload", (event) => event.preventDefault());`),
  "/silent": (_request, closing) => silentUntil(closing),
  "/slow-part": () => page(`${PUBLIC}<img src="/silent">`),
  "/trickle": (_request, closing) => {
    let timer: ReturnType<typeof setInterval>;
    const body = new ReadableStream<Uint8Array>({
      start(stream) {
        const send = (html: string) => stream.enqueue(new TextEncoder().encode(html));
        send(`<!doctype html><title>Trickle</title>${PUBLIC}`);
        timer = setInterval(() => send("<p>More</p>"), 100);
        closing.addEventListener("abort", () => clearInterval(timer));
      },
      cancel: () => clearInterval(timer),
    });
    return new Response(body, { headers: { "Content-Type": "text/html" } });
  },

  "/frames": () =>
    page(`${PUBLIC}<iframe src="/login"></iframe><iframe src="data:text/html,x"></iframe>
      <iframe srcdoc="<p>Inside</p><script>for (let i = 0; i < 3; i++) alert(i)</script>"></iframe>`),
  "/worker": () => script(`navigator.serviceWorker.register("/worker.js").catch(() => {});`),
  "/worker.js": () =>
    new Response(`addEventListener("fetch", () => {});`, {
      headers: { "Content-Type": "text/javascript" },
    }),
  "/opener": () =>
    script(`window.open("/popup"); navigator.geolocation.getCurrentPosition(() => {}, (error) => {
      fetch("/denied-" + error.code);
    });`),
  "/tracked": () =>
    script(`const send = (path) => fetch(path, { method: "POST", body: "{}" }).catch(() => {});
      send("/v1/events"); send("/base/v1/events?key=1"); send("/own/collect"); send("/v1/other");
      navigator.sendBeacon("/v1/events", "{}");
      const later = new XMLHttpRequest(); later.open("POST", "/v1/events"); later.send("{}");`),
  "/other-client": () =>
    script(`const body = ${JSON.stringify(OTHER_CLIENT_EVENT)};
      fetch("/stats/v1/t", { method: "POST", body }); navigator.sendBeacon("/stats/v1/t", body);`),
  "/spinner": () =>
    script(`document.body.textContent = "Loading";
      fetch("/late").then(() => document.body.innerHTML = ${JSON.stringify(PUBLIC)});`),
  "/late": async () => {
    await new Promise((resolve) => setTimeout(resolve, 700));
    return Response.json({});
  },
};
