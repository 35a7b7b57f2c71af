/** Pages as shops and magazines have them: a hero, a sticky bar, lazy pictures, text, a script. */

const STYLE = `body{margin:0;font:16px/1.5 system-ui,sans-serif;color:#223}
header{position:sticky;top:0;background:#fff;border-bottom:1px solid #ccd;padding:16px 24px}
.hero{height:100vh;background:linear-gradient(120deg,#bcd,#fde);display:grid;place-items:center}
main{max-width:1080px;margin:0 auto;padding:24px;display:grid;gap:24px;
grid-template-columns:repeat(auto-fill,minmax(280px,1fr))}
article{border:1px solid #ccd;border-radius:8px;overflow:hidden}
article p{padding:0 16px}img{width:100%;height:200px;object-fit:cover}footer{background:#eef;padding:48px}`;
const SCRIPT =
  `addEventListener("load",async()=>{const price=await (await fetch("/prices.json")).json();
document.querySelectorAll("[data-price]").forEach((each,i)=>each.textContent=price[i%price.length]+" EUR")})`;
const WORDS =
  "The pan is made by hand in a small workshop and lasts for a lifetime of breakfasts. ";
const ARTICLES = 24;

function picture(seed: number): string {
  const circles = Array.from({ length: 40 }, (_, i) => {
    const [x, y, hue] = [
      (seed * 37 + i * 53) % 400,
      (seed * 11 + i * 29) % 300,
      (seed + i * 9) % 360,
    ];
    return `<circle cx="${x}" cy="${y}" r="${8 + i % 30}" fill="hsl(${hue} 60% 60%)"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="300">${
    circles.join("")
  }</svg>`;
}

function page(number: number): string {
  const articles = Array.from(
    { length: ARTICLES },
    (_, i) =>
      `<article><img loading="lazy" src="/picture-${
        number * ARTICLES + i
      }.svg" alt=""><h2>Thing ${i}</h2>
    <p>${WORDS.repeat(2 + (number + i) % 3)}</p><p data-price></p></article>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Page ${number}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/style.css">
<script src="/script.js" defer></script></head><body><header>Shop ${number}</header>
<div class="hero"><h1>Page ${number}</h1></div><main>${articles.join("")}</main>
<footer>${WORDS}</footer></body></html>`;
}

/** A site of so many pages, `/page-0` and on. */
export class OrdinarySite implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(readonly pages: number) {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
      const { pathname } = new URL(request.url);
      const reply = (body: string, type: string) =>
        new Response(body, { headers: { "Content-Type": `${type}; charset=utf-8` } });
      const [, kind, number] = /^\/(page|picture)-(\d+)/.exec(pathname) ?? [];
      if (kind === "page" && Number(number) < pages) {
        return reply(page(Number(number)), "text/html");
      }
      if (kind === "picture") return reply(picture(Number(number)), "image/svg+xml");
      if (pathname === "/style.css") return reply(STYLE, "text/css");
      if (pathname === "/script.js") return reply(SCRIPT, "text/javascript");
      if (pathname === "/prices.json") return Response.json([19, 24, 31, 42]);
      return new Response("Nothing here", { status: 404 });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
