import { PRODUCTS } from "../shop.ts";
import { demoPage, type Tag } from "./pages.ts";
import { SHOP_SCRIPT } from "./script.ts";
import { STYLE } from "./style.ts";

/** A header that every reply of the shop has. */
export const SHOP_MARK = "x-demo-shop";

/** Replies with the newest events for the shop's panel, as JSON; null: the shop has no panel. */
export type Arrivals = (() => Promise<Response>) | null;

/** Returns the demo shop as a request handler. */
export function createShop(
  tag: Tag,
  arrivals: Arrivals,
): (request: Request) => Response | Promise<Response> {
  const text = (body: string, type: string, status = 200) =>
    new Response(body, {
      status,
      headers: { "Content-Type": `${type}; charset=utf-8`, [SHOP_MARK]: "1" },
    });
  return (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/style.css") return text(STYLE, "text/css");
    if (pathname === "/shop.js") return text(SHOP_SCRIPT, "text/javascript");
    if (pathname === "/price-list.csv") {
      return text(PRODUCTS.map(({ name, price }) => `${name},${price}\n`).join(""), "text/csv");
    }
    if (pathname === "/arrivals" && arrivals !== null) {
      return arrivals().catch(() => text("The server does not answer", "text/plain", 502));
    }
    const page = demoPage(pathname, tag);
    return page === null ? text("No such page", "text/plain", 404) : text(page, "text/html");
  };
}
