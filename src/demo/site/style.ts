/**
 * The demo shop's style sheet. Parts have fixed heights, so that they are at the same position with whatever
 * fonts a machine has: the positions of invented clicks are in `page_boxes.json`.
 */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#fbf8f3, #16130f); --card: light-dark(#fff, #211c16);
  --ink: light-dark(#2a211a, #f2ebe1); --muted: light-dark(#6b5d50, #b5a797);
  --line: light-dark(#e6dccf, #3a322a); --accent: light-dark(#8a3f14, #f0a878);
  --on-accent: light-dark(#fff, #2a1508);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/24px system-ui, sans-serif; }
header { position: fixed; z-index: 1; inset: 0 0 auto; height: 72px; padding: 0 6%; display: flex; align-items: center; background: var(--paper); border-bottom: 1px solid var(--line); }
header .logo { font: 600 21px/72px Georgia, serif; color: inherit; text-decoration: none; width: 34%; white-space: nowrap; overflow: hidden; }
nav { display: flex; flex: 1; }
nav a { width: 16%; padding-right: 8px; min-width: 0; line-height: 72px; overflow: hidden; white-space: nowrap; }
nav a.cart { margin-left: auto; padding: 0; text-align: right; }
main { padding: 72px 6% 0; }
section, .bar, .row, footer { overflow: hidden; }
a { color: var(--accent); text-underline-offset: 3px; }
h1 { font: 600 40px/48px Georgia, serif; height: 48px; overflow: hidden; margin: 0 0 16px; }
h2 { font: 600 20px/28px Georgia, serif; height: 28px; overflow: hidden; margin: 0; }
p { margin: 0 0 16px; height: 72px; overflow: hidden; max-width: 640px; color: var(--muted); }
.button, button { font: 600 16px/24px system-ui, sans-serif; height: 48px; width: 208px; padding: 0; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); border-radius: 8px; cursor: pointer; text-decoration: none; display: inline-grid; place-items: center; }
button.quiet { background: none; color: var(--accent); }
button.small { width: 48px; }
.art, .product-photo { display: block; width: 100%; border-radius: 12px; }
#hero { height: 640px; display: grid; grid-template-columns: 45% 55%; align-items: center; }
#hero h1 { height: 96px; }
#hero .art { height: 480px; }
.grid { height: 480px; display: grid; grid-template-columns: repeat(3, 1fr); gap: 32px; margin: 0; padding: 0; list-style: none; }
.grid.long { height: 1600px; }
.grid li { height: 480px; overflow: hidden; }
.grid li > a { display: block; height: 448px; color: inherit; text-decoration: none; background: var(--card); border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
.grid .art { height: 300px; border-radius: 0; }
.grid .words { padding: 16px; }
.grid p { height: 48px; margin: 0; }
.filler { height: 860px; padding-top: 48px; }
.filler h2 { margin-bottom: 16px; }
.bar { height: 144px; padding-top: 48px; }
.browse { display: grid; grid-template-columns: 20% 80%; height: 2080px; }
#filter { height: 240px; }
#filter label { display: block; height: 48px; line-height: 48px; overflow: hidden; }
.split { height: 760px; display: grid; grid-template-columns: 50% 44%; gap: 6%; padding-top: 48px; }
.product-photo { height: 620px; }
#grind-size, input { font: inherit; display: block; width: 100%; height: 48px; padding: 0 12px; margin: 0 0 16px; border: 1px solid var(--line); border-radius: 8px; background: var(--card); color: inherit; }
details { height: 64px; overflow: hidden; }
summary { height: 48px; line-height: 48px; cursor: pointer; border-bottom: 1px solid var(--line); }
details[open] { height: 200px; }
article { max-width: none; padding: 48px 14% 0; }
article p { height: 144px; font: 18px/28px Georgia, serif; max-width: none; }
article p.link { height: 28px; }
article p.link a { display: inline-block; width: 60%; height: 28px; overflow: hidden; }
figure { margin: 0 0 32px; }
figure img { display: block; width: 100%; height: 420px; border-radius: 12px; }
aside a.product { display: block; height: 120px; line-height: 120px; text-align: center; border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
.row { height: 96px; border-bottom: 1px solid var(--line); display: grid; grid-template-columns: 46% 12% 12% 30%; align-items: center; }
.row span { overflow: hidden; height: 24px; }
.row span:last-child { text-align: right; }
[type=checkbox], [type=radio] { display: inline-block; width: auto; height: auto; margin: 0 8px 0 0; }
#order, #account { width: 46%; }
form label { display: block; height: 96px; overflow: hidden; font-weight: 600; }
#delivery { height: 160px; }
#delivery label { height: 48px; font-weight: 400; }
footer { height: 200px; padding: 48px 6% 0; margin-top: 48px; border-top: 1px solid var(--line); color: var(--muted); display: flex; align-items: flex-start; }
footer a { width: 20%; height: 24px; overflow: hidden; }
footer button { margin-left: auto; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
#arrivals { position: fixed; z-index: 2; right: 16px; bottom: 16px; width: min(384px, calc(100vw - 32px)); max-height: 224px; overflow: auto; background: var(--card); border: 1px solid var(--line); border-radius: 12px; box-shadow: 0 8px 32px rgb(0 0 0 / .18); font-size: 14px; padding: 12px 16px; }
#arrivals h2 { font: 600 14px/24px system-ui, sans-serif; height: auto; }
#arrivals ol { list-style: none; margin: 4px 0 0; padding: 0; }
#arrivals li { display: grid; grid-template-columns: 120px 1fr; gap: 8px; border-top: 1px solid var(--line); padding: 3px 0; }
#arrivals code { overflow-wrap: anywhere; }
#arrivals p { height: auto; margin: 4px 0 0; }
@media (max-width: 1000px) {
  nav a { width: 18%; }
  .grid { grid-template-columns: repeat(2, 1fr); height: 992px; }
  .grid.long { height: 2080px; }
  .browse { height: 2400px; }
  article { padding: 48px 4% 0; }
}
@media (max-width: 600px) {
  header .logo { width: 32%; font-size: 13px; }
  nav a { width: 34%; font-size: 13px; padding: 0; }
  nav a:nth-of-type(3) { display: none; }
  h1 { font-size: 26px; line-height: 32px; height: 64px; }
  #hero { height: 760px; grid-template-columns: 100%; align-content: start; padding-top: 48px; }
  #hero .art { height: 360px; margin-top: 48px; }
  .grid { grid-template-columns: 100%; height: 1504px; }
  .grid.long { height: 4096px; }
  .filler { height: 1060px; }
  p { height: 96px; }
  footer { height: 240px; flex-wrap: wrap; }
  footer a { width: 33%; }
  footer button { margin: 24px auto 0 0; }
  .browse { grid-template-columns: 100%; grid-template-rows: 240px auto; height: 4400px; }
  .split { grid-template-columns: 100%; gap: 24px; height: 980px; align-content: start; }
  .product-photo { height: 420px; }
  article p { height: 224px; }
  figure img { height: 260px; }
  #order, #account { width: 100%; }
  .row { grid-template-columns: 34% 20% 20% 26%; }
  #arrivals { max-height: 112px; right: 8px; bottom: 8px; width: calc(100vw - 16px); }
}
`;
