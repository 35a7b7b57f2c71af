/** The demo shop's style sheet; it follows the visitor's colour scheme. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#fbf8f3, #16130f); --card: light-dark(#fff, #211c16);
  --ink: light-dark(#2a211a, #f2ebe1); --muted: light-dark(#6b5d50, #b5a797);
  --line: light-dark(#e6dccf, #3a322a); --accent: light-dark(#8a3f14, #f0a878);
  --on-accent: light-dark(#fff, #2a1508);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif; }
header, main, footer { max-width: 68rem; margin: 0 auto; padding: 1rem 1.25rem; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1.5rem; }
header strong { font: 600 1.35rem Georgia, serif; margin-right: auto; }
header strong a { color: inherit; text-decoration: none; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
a { color: var(--accent); text-underline-offset: .2em; }
h1 { font: 600 clamp(1.9rem, 5vw, 3rem)/1.15 Georgia, serif; margin: 1.5rem 0 .5rem; max-width: 20ch; text-wrap: balance; }
h2 { font: 600 1.25rem/1.3 Georgia, serif; margin: 0 0 .25rem; }
p { max-width: 62ch; margin: .5rem 0; }
.lead { color: var(--muted); font-size: 1.1rem; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); gap: 1.25rem; margin: 2rem 0; padding: 0; list-style: none; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; overflow: hidden; display: flex; flex-direction: column; }
.card > div { padding: 1rem; display: flex; flex-direction: column; gap: .25rem; flex: 1; }
.card p { flex: 1; margin: 0; color: var(--muted); }
.picture { height: 9rem; display: block; }
.split { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); gap: 2rem; margin: 1.5rem 0; }
.split .picture { height: 20rem; border-radius: .75rem; }
.price { font-variant-numeric: tabular-nums; font-weight: 600; }
button, .button { font: inherit; font-weight: 600; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); border-radius: .5rem; padding: .5rem 1rem; cursor: pointer; text-decoration: none; display: inline-block; }
button.quiet { background: none; color: var(--accent); }
label { display: grid; gap: .25rem; max-width: 24rem; margin: .75rem 0; font-weight: 600; }
input { font: inherit; padding: .5rem .65rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--card); color: inherit; }
table { border-collapse: collapse; width: 100%; max-width: 34rem; margin: 1rem 0; }
td { padding: .5rem 0; border-bottom: 1px solid var(--line); }
td:last-child { text-align: right; font-variant-numeric: tabular-nums; }
article p { font: 1.1rem/1.75 Georgia, serif; margin: 1.1rem 0; }
footer { color: var(--muted); border-top: 1px solid var(--line); margin-top: 3rem; display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; padding-bottom: 16rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
#arrivals { position: fixed; right: 1rem; bottom: 1rem; width: min(24rem, calc(100vw - 2rem)); max-height: 14rem; overflow: auto; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; box-shadow: 0 .5rem 2rem rgb(0 0 0 / .18); font-size: .85rem; padding: .75rem 1rem; }
@media (max-width: 40rem) { #arrivals { max-height: 7rem; right: .5rem; bottom: .5rem; width: calc(100vw - 1rem); } }
#arrivals h2 { font: 600 .85rem system-ui, sans-serif; }
#arrivals ol { list-style: none; margin: .25rem 0 0; padding: 0; }
#arrivals li { display: grid; grid-template-columns: 7.5rem 1fr; gap: .5rem; border-top: 1px solid var(--line); padding: .2rem 0; }
#arrivals code { overflow-wrap: anywhere; }
#arrivals p { color: var(--muted); margin: .25rem 0 0; }
`;
