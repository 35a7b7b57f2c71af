import { PRODUCTS, SHOP_CURRENCY, THANKS } from "../shop.ts";

const SOLD = PRODUCTS.map(({ sku, name, category, price }) => ({ sku, name, category, price }));

/** The shop's own script. Its events are those of the invented visitors, beside what the script tag records. */
export const SHOP_SCRIPT = `
const currency = ${JSON.stringify(SHOP_CURRENCY)};
const products = ${JSON.stringify(SOLD)};
const productOf = (sku) => products.find((product) => product.sku === sku);
const cart = () => JSON.parse(localStorage.getItem("cart") ?? "[]");
const keep = (skus) => localStorage.setItem("cart", JSON.stringify(skus));
const order = () => ({
  value: Math.round(cart().reduce((sum, sku) => sum + productOf(sku).price, 0) * 100) / 100,
  currency,
  items: cart().length,
});
const on = (selector, event, listener) =>
  document.querySelector(selector)?.addEventListener(event, listener);

const button = document.querySelector("#add-to-cart");
if (button) {
  const { sku, name, category, price } = productOf(button.dataset.sku);
  footfall.track("view_product", { sku, name, category, price, currency });
  button.addEventListener("click", () => {
    keep([...cart(), sku]);
    button.textContent = "In your cart";
    footfall.track("add_to_cart", { sku, quantity: 1, value: price, currency });
  });
}

function showCart() {
  const rows = document.querySelector("#rows");
  if (!rows) return;
  rows.replaceChildren(...(cart().length === 0 ? [null] : cart()).map((sku, at) => {
    const row = Object.assign(document.createElement("div"), { className: "row" });
    const cell = (text) => Object.assign(document.createElement("span"), { textContent: text });
    const small = (className, text, next) => {
      const part = Object.assign(document.createElement("button"), { className: "small quiet " + className, textContent: text });
      part.addEventListener("click", () => { keep(next()); showCart(); });
      return part;
    };
    const product = sku === null ? null : productOf(sku);
    row.append(
      cell(product?.name ?? "It is empty."),
      small("increase", "+", () => sku === null ? [] : [...cart(), sku]),
      small("remove", "−", () => cart().filter((_, i) => i !== at)),
      cell(product ? "€" + product.price.toFixed(2) : ""),
    );
    return row;
  }));
}
showCart();

on("#checkout", "click", () => location.href = "/checkout");
if (document.querySelector("#order")) footfall.track("begin_checkout", order());
on("#order", "submit", (event) => {
  event.preventDefault();
  footfall.identify(new FormData(event.target).get("email"));
  footfall.track("purchase", { orderId: "order-" + Date.now().toString(36), ...order() });
  localStorage.removeItem("cart");
  location.href = ${JSON.stringify(THANKS.path)};
});
on("#account", "submit", (event) => {
  event.preventDefault();
  footfall.identify(new FormData(event.target).get("email"));
  footfall.track(location.pathname.endsWith("new") ? "sign_up" : "login", { method: "email" });
  location.href = "/";
});
on("#opt-out", "click", (event) => {
  footfall.optOut();
  event.target.textContent = "You are not recorded";
});

const panel = document.querySelector("#arrivals");
let shown = "";
async function showArrivals() {
  const reply = await fetch("/arrivals").catch(() => null);
  const text = reply?.ok ? await reply.text() : shown;
  if (text !== shown) {
    shown = text;
    const events = JSON.parse(text);
    panel.querySelector("p").hidden = events.length > 0;
    panel.querySelector("ol").replaceChildren(...events.map(({ name, about }) => {
      const item = document.createElement("li");
      for (const part of [name, about]) item.append(Object.assign(document.createElement("code"), { textContent: part }));
      return item;
    }));
  }
  setTimeout(showArrivals, 1000);
}
if (panel) showArrivals();
`;
