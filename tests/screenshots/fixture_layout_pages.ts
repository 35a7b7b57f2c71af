import { page, type Pages, WORDS } from "./fixture_answers.ts";

const IMAGE = `<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200">` +
  `<rect width="300" height="200" fill="#009900"/></svg>`;

function repeat(count: number, part: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => part(i)).join("");
}

/** Pages for pictures: their colours and sizes are what the tests look for. */
export const LAYOUT_PAGES: Pages = {
  "/": () => page(`<h1>An ordinary page</h1><p>${WORDS}</p>`),

  "/hero": () =>
    page(
      `<style>header{position:sticky;top:0;height:60px;background:#ff0000}
       .hero{height:100vh;background:#0000ff}.part{height:600px;background:#fff}
       .bar{position:fixed;right:0;bottom:0;width:100px;height:40px;background:#ffff00}</style>
       <header></header><div class="hero"></div>` +
        repeat(
          20,
          (i) =>
            `<div class="part"><img loading="lazy" width="300" height="200" src="/image-${i}"></div>`,
        ) + `<div class="bar"></div>`,
    ),
  ...Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [
      `/image-${i}`,
      () => new Response(IMAGE, { headers: { "Content-Type": "image/svg+xml" } }),
    ]),
  ),

  /** Asks for its parts by itself, once they come into sight. */
  "/observed": () =>
    page(
      repeat(10, () => `<div class="part" style="height:700px;background:#eee">Part</div>`) +
        `<script>const seen = new IntersectionObserver((all) => all.forEach((one) => {
          if (!one.isIntersecting) return;
          one.target.style.background = "#009900";
          fetch("/seen");
          seen.unobserve(one.target);
        }));
        document.querySelectorAll(".part").forEach((part) => seen.observe(part));</script>`,
    ),
  "/seen": () => new Response(null, { status: 204 }),

  /** 25,000 px, a hero of the window's height first. */
  "/long": () =>
    page(
      `<div style="height:100vh;background:#0000ff"></div>` +
        `<div style="height:calc(25000px - 100vh);background:linear-gradient(#ff0000,#009900)"></div>`,
    ),
  "/too-long": () =>
    page(`<div style="height:40000px;background:linear-gradient(#ff0000,#0000ff)"></div>`),

  /** Read from right to left, with a menu that hangs out at the left until it is called. */
  "/right-to-left": () =>
    page(
      `<style>html{direction:rtl}body{margin:0}</style>` +
        `<div style="width:100px;height:300px;background:#ff0000"></div>` +
        `<nav style="position:absolute;top:0;left:-500px;width:500px;height:300px;` +
        `background:#0000ff"></nav><p>${WORDS}</p>`,
    ),

  /** Asks phones for a width. */
  "/too-wide": () =>
    page(
      `<meta name="viewport" content="width=10000, minimum-scale=0.01">` +
        `<div style="height:20000px;background:linear-gradient(#ff0000,#0000ff)"></div>`,
    ),

  /** An application that fills the window and scrolls inside. */
  "/inner": () =>
    page(
      `<style>html,body{height:100%;overflow:hidden}.app{display:flex;height:100vh}
       nav{width:80px;background:#ff0000}main{flex:1;overflow:auto}</style>
       <div class="app"><nav></nav><main>` +
        repeat(40, (i) => `<div style="height:100px">Row ${i}</div>`) +
        `<div style="height:100px;background:#009900">The end</div></main></div>`,
    ),

  "/moving": () =>
    page(
      `<style>@keyframes come{from{opacity:0}to{opacity:1}}
       div{height:300px;background:#009900;animation:come 60s both}</style><div></div><p>${WORDS}`,
    ),

  "/blank": () => page(`<p style="opacity:0">${WORDS}</p>`),
  "/few-words": () => page(`<p>Hello</p>`),

  /** Made for desktops: it has no viewport for phones. */
  "/wide": () =>
    new Response(`<!doctype html><title>Wide</title><h1>Wide</h1><p>${WORDS}</p>`, {
      headers: { "Content-Type": "text/html" },
    }),
};
