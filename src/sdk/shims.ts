/// <reference lib="dom" />
import { currentPage } from "./page.ts";
import type { Analytics, Properties } from "./sdk.d.ts";

/** What Umami's and Plausible's functions may be given: members of their payloads. */
// deno-lint-ignore no-explicit-any -- pages give what they like
type Given = any;
type Send = (name: string, properties?: Properties, page?: Given) => void;

/** The whole address of a page that is given as a path or an address. */
const addressOf = (url: string) => Object.assign(document.createElement("a"), { href: url }).href;

/** Records with all clients: `pageview` and no name at all are page views. Pages never see an error. */
function senderOf(clients: readonly Analytics[]): Send {
  return (name, properties, page) => {
    const { url, referrer, title } = { ...currentPage(), ...page };
    const details = { url: addressOf(url), referrer, title };
    for (const client of clients) {
      if (name && name !== "pageview") client.track(name, properties, details);
      else client.page(properties, details);
    }
  };
}

/** `window.umami`. */
function umamiOf(clients: readonly Analytics[], send: Send) {
  return {
    async track(what: Given, data?: Given) {
      const page = { hostname: location.hostname, ...currentPage() };
      const payload = typeof what === "function"
        ? await what(page)
        : typeof what === "string"
        ? { name: what, data }
        : what ?? {};
      // A function that returns nothing cancels the event.
      if (payload) send(payload.name, payload.data, payload);
    },
    // deno-lint-ignore require-await -- pages wait for it
    async identify(id: Given, data?: Given) {
      if (typeof id === "string") clients.forEach((client) => client.identify(id));
      else data = id;
      send("$identify", data);
    },
  };
}

/** `window.plausible`. Sends what waits in its queue. */
function plausibleOf(send: Send, queue?: Iterable<Given>) {
  const plausible = (name: string, options?: Given) => {
    const { props, revenue, interactive, u, url, callback } = options ?? {};
    const properties = {
      ...props,
      ...revenue && { revenue: +revenue.amount, currency: revenue.currency },
      ...interactive === false && { $interactive: false },
    };
    send(name, properties, (u || url) && { url: u || url });
    // The event is queued, and outlives the page.
    if (callback) setTimeout(callback, 0, { status: 202 });
  };
  // Pages always call it; its options have been read already.
  plausible.init = () => {};
  for (const call of queue ?? []) plausible(...call as [string]);
  return plausible;
}

const TAGGED = "[data-umami-event],[class*=plausible-event-name]";

/** Records clicks and submitted forms whose attributes or class names name an event. */
function watchTagged(send: Send): void {
  const happened = ({ type, target, button }: Given) => {
    const element: Element | null = target.closest?.(TAGGED);
    if (!element || button > 1 || (element.localName === "form") !== (type === "submit")) return;
    const found: Properties = {};
    for (const { name, value } of element.attributes) {
      if (name.startsWith("data-umami-event")) found[name.slice(17) || "name"] = value;
    }
    for (const word of element.classList) {
      const [, kind, key, value] = /^plausible-(event|revenue)-(.+?)(?:=|--)(.+)$/.exec(word) ?? [];
      if (!key) continue;
      found[key === "amount" ? kind! : key] = key === "amount"
        ? +value!
        : value!.replace(/\+/g, " ");
    }
    const { name, ...properties } = found;
    send(name as string, properties);
  };
  for (const type of ["click", "auxclick", "submit"]) addEventListener(type, happened, true);
}

/** Defines `window.umami` and `window.plausible`, as pages of these products call them. */
export function installShims(clients: readonly Analytics[]): void {
  const page = window as Given;
  const send = senderOf(clients);
  page.umami ??= umamiOf(clients, send);
  page.plausible = plausibleOf(send, page.plausible?.q);
  watchTagged(send);
}
