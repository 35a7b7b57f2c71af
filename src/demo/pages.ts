import { type Product, PRODUCTS } from "./products.ts";

/** How the demo shop's pages reach Footfall. */
export interface Tag {
  readonly server: string;
  readonly apiKey: string;
  /** Whether the shop can show what the server has stored. */
  readonly showsArrivals: boolean;
}

const euros = (price: number) => `€${price.toFixed(2)}`;

const picture = ({ colours: [dark, light] }: Product) =>
  `<span class="picture" style="background: radial-gradient(circle at 30% 30%, ${light}, ${dark})"></span>`;

const card = (product: Product) =>
  `<li class="card">${picture(product)}<div>
    <h2><a href="/products/${product.sku}">${product.name}</a></h2>
    <p>${product.text}</p><span class="price">${euros(product.price)}</span></div></li>`;

const list = `<ul class="grid">${PRODUCTS.map(card).join("")}</ul>`;

const productPage = (product: Product) =>
  `<div class="split">${picture(product)}<div>
    <h1>${product.name}</h1><p class="lead">${product.text}</p>
    <p class="price">${euros(product.price)}</p>
    <p><button data-sku="${product.sku}" data-price="${product.price}">Add to cart</button>
       <button class="quiet" id="compare">Compare</button></p>
    <p>“Compare” does nothing: a click on it is a <em>dead</em> one, and three are <em>rage</em>.</p>
  </div></div>`;

const paragraphs = [
  "A roast begins an hour before the first bean falls. The drum takes that long to hold its heat evenly, and an uneven drum makes an uneven coffee.",
  "We charge at two hundred degrees and watch the beans lose their water. They turn from green to the yellow of straw, and the room begins to smell of bread.",
  "Then comes the part that nobody can hurry. Sugars brown, acids form and fade, and every bean in the drum has its own opinion about when it is done.",
  "The first crack sounds like dry twigs. From here on it is a matter of seconds, and the difference between two seconds is a different coffee.",
  "We stop, cool with nothing but air, and wait for a day before we taste. Fresh coffee is not better coffee; it is only younger.",
];

const PAGES: Readonly<Record<string, { readonly title: string; readonly html: string }>> = {
  "/": {
    title: "Fresh coffee",
    html: `<h1>Coffee, roasted on Tuesdays</h1>
      <p class="lead">A small shop that sells nothing. Click around: the panel shows what Footfall has stored of your visit.</p>
      <p><a class="button" href="/coffee">See the coffee</a></p>${list}`,
  },
  "/coffee": { title: "Everything we roast", html: `<h1>Everything we roast</h1>${list}` },
  "/journal": {
    title: "An hour before the first bean",
    html: `<article><h1>An hour before the first bean</h1>
      <p class="lead">Scroll: how far you came is sent once, as you leave the page.</p>
      ${[...paragraphs, ...paragraphs, ...paragraphs].map((text) => `<p>${text}</p>`).join("")}
      <p><a href="https://en.wikipedia.org/wiki/Coffee_roasting">More on roasting</a> (an outbound link),
      <a href="/price-list.csv" download>our price list</a> (a download).</p></article>`,
  },
  "/cart": {
    title: "Your cart",
    html: `<h1>Your cart</h1><table id="cart"></table>
      <p><a class="button" href="/checkout">Check out</a></p>`,
  },
  "/checkout": {
    title: "Checkout",
    html: `<h1>Checkout</h1><p>Your e-mail address becomes your <code>userId</code>; nothing else of
      what you type is read.</p>
      <form id="checkout"><label>E-mail <input type="email" name="email" required autocomplete="email"></label>
      <label>Password <input type="password" name="password" autocomplete="off"></label>
      <button>Pay nothing</button></form>`,
  },
  "/thanks": {
    title: "Thank you",
    html: `<h1>Thank you</h1><p class="lead">Your order will never arrive.</p>
      <p><a class="button" href="/">Once more</a></p>`,
  },
  ...Object.fromEntries(
    PRODUCTS.map((product) => [`/products/${product.sku}`, {
      title: product.name,
      html: productPage(product),
    }]),
  ),
};

const ARRIVALS = `<aside id="arrivals" data-footfall-ignore aria-live="polite">
  <h2>Stored by Footfall</h2><p>Nothing yet: events are sent in batches, after five seconds at most.</p><ol></ol></aside>`;

/** One page of the shop, whole; null where there is none. */
export function demoPage(path: string, { server, apiKey, showsArrivals }: Tag): string | null {
  const page = PAGES[path];
  if (page === undefined) return null;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title} – Tuesday Coffee</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/style.css">
<script defer src="${server}/sdk.js" data-api-key="${apiKey}"></script>
<script defer src="/shop.js"></script>
<header><strong><a href="/">Tuesday Coffee</a></strong>
  <nav><a href="/coffee">Coffee</a><a href="/journal">Journal</a><a href="/cart">Cart</a></nav></header>
<main>${page.html}</main>
<footer><span>A demo shop for Footfall.</span>
  <button class="quiet" id="opt-out" data-footfall-ignore>Do not record me</button></footer>
${showsArrivals ? ARRIVALS : ""}
</html>
`;
}

/** What the shop itself tells Footfall, beside what the script tag sees. */
export const SHOP_SCRIPT = `
const cart = () => JSON.parse(localStorage.getItem("cart") ?? "[]");
const products = ${JSON.stringify(PRODUCTS.map(({ sku, name, price }) => ({ sku, name, price })))};

for (const button of document.querySelectorAll("[data-sku]")) {
  button.addEventListener("click", () => {
    const { sku, price } = button.dataset;
    localStorage.setItem("cart", JSON.stringify([...cart(), sku]));
    button.textContent = "In your cart";
    footfall.track("add_to_cart", { sku, price: Number(price) });
  });
}

const table = document.querySelector("#cart");
if (table) {
  for (const sku of cart()) {
    const { name, price } = products.find((product) => product.sku === sku);
    const row = table.insertRow();
    row.insertCell().textContent = name;
    row.insertCell().textContent = "€" + price.toFixed(2);
  }
  if (cart().length === 0) table.insertRow().insertCell().textContent = "It is empty.";
}

document.querySelector("#checkout")?.addEventListener("submit", (event) => {
  event.preventDefault();
  footfall.identify(new FormData(event.target).get("email"));
  const total = cart().reduce((sum, sku) => sum + products.find((one) => one.sku === sku).price, 0);
  footfall.track("purchase", { total, currency: "EUR", items: cart().length });
  localStorage.removeItem("cart");
  location.href = "/thanks";
});

document.querySelector("#opt-out").addEventListener("click", (event) => {
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
    panel.querySelector("p").hidden = true;
    panel.querySelector("ol").replaceChildren(...JSON.parse(text).map(({ name, about }) => {
      const item = document.createElement("li");
      for (const part of [name, about]) item.append(Object.assign(document.createElement("code"), { textContent: part }));
      return item;
    }));
  }
  setTimeout(showArrivals, 1000);
}
if (panel) showArrivals();
`;
