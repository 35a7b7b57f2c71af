import { page, type Pages, WORDS } from "./fixture_answers.ts";

const PUBLIC = `<h1>A shop</h1><p>${WORDS}</p><p>${WORDS}</p>`;
const ASKING = "We use cookies to remember you. Do you agree?";

function button(text: string, answer: string): string {
  return `<button onclick="fetch('/${answer}', { method: 'POST' });` +
    `document.querySelectorAll('.ask').forEach((part) => part.remove())">${text}</button>`;
}

function banner(buttons: string, style = "left:0;right:0;bottom:0;height:120px"): string {
  return `<div class="ask" style="position:fixed;background:#00ff00;${style}">${ASKING} ${buttons}</div>`;
}

const BACKDROP = `<div class="ask" style="position:fixed;inset:0;background:#0009"></div>`;
const DIALOG = "left:30%;top:30%;width:40%;height:200px";

/** Pages that ask for consent; what is answered is a `POST /accepted` or `POST /refused`. */
export const CONSENT_PAGES: Pages = {
  "/banner": () =>
    page(PUBLIC + banner(button("Accept all", "accepted") + button("Reject all", "refused"))),
  "/banner-german": () =>
    page(
      PUBLIC + banner(button("Alle akzeptieren", "accepted") + button("Alle ablehnen", "refused")),
    ),
  "/banner-accept-only": () => page(PUBLIC + banner(button("Accept", "accepted"))),
  "/wall": () => page(PUBLIC + BACKDROP + banner(button("Accept all", "accepted"), DIALOG)),
  "/wall-with-reject": () =>
    page(
      PUBLIC + BACKDROP +
        banner(button("Accept all", "accepted") + button("Only necessary", "refused"), DIALOG),
    ),
  /** What it says contains "accept", and costs. */
  "/wall-with-price": () =>
    page(
      PUBLIC + BACKDROP +
        banner(button("Accept all", "accepted") + button("Reject and pay", "accepted"), DIALOG),
    ),
  /** Whose refusal is a link to another page, and one that shows visitors out. */
  "/banner-link": () =>
    page(PUBLIC + banner(button("Accept", "accepted") + `<a href="/gone">Decline</a>`)),
  "/banner-out": () =>
    page(
      PUBLIC + banner(
        button("Accept", "accepted") +
          `<button onclick="location.href = 'http://nowhere.invalid/'">Decline</button>`,
      ),
    ),
  "/banner-shadow": () =>
    page(
      `${PUBLIC}<div id="host"></div><script>
        document.querySelector("#host").attachShadow({ mode: "open" }).innerHTML =
          '<div style="position:fixed;left:0;right:0;bottom:0;height:90px;background:#00ff00">' +
          'This site uses cookies. <button id="yes">Agree</button><button id="no">Decline</button></div>';
        const root = document.querySelector("#host").shadowRoot;
        for (const [id, answer] of [["yes", "/accepted"], ["no", "/refused"]]) {
          root.querySelector("#" + id).onclick = () => {
            fetch(answer, { method: "POST" });
            root.textContent = "";
          };
        }</script>`,
    ),
  /** A known maker's banner, whose refusal is behind its settings. */
  "/banner-known": () =>
    page(
      `${PUBLIC}<div id="onetrust-banner-sdk" class="ask" role="dialog"
        style="position:fixed;left:0;right:0;bottom:0;height:120px;background:#00ff00">${ASKING}
        <button id="onetrust-accept-btn-handler" onclick="fetch('/accepted',{method:'POST'})">Accept</button>
        <button id="onetrust-pc-btn-handler" onclick="document.querySelector('#onetrust-pc-sdk').style.display='block'">Settings</button>
        </div>
        <div id="onetrust-pc-sdk" class="ask" style="display:none;position:fixed;top:10%;left:10%;width:300px;height:300px;background:#00ff00">
        Cookie settings <button class="ot-pc-refuse-all-handler"
        onclick="fetch('/refused',{method:'POST'});document.querySelectorAll('.ask').forEach((p)=>p.remove())">Reject All</button>
        <button class="save-preference-btn-handler">Confirm My Choices</button></div>`,
    ),
  /** The maker of biscuits says so in its menu. */
  "/bakery": () =>
    page(
      `<nav style="position:fixed;top:0;left:0;right:0;height:60px;background:#0000ff">
        <a href="/">Cookies</a> <a href="/">Cakes</a></nav><div style="height:60px"></div>${PUBLIC}`,
    ),
  "/accepted": () => new Response(null, { status: 204 }),
  "/refused": () => new Response(null, { status: 204 }),
};
