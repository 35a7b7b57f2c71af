import {
  ARTICLES,
  CATEGORIES,
  HOME,
  type Page,
  type PageKind,
  PAGES,
  type Product,
  PRODUCTS,
  SHOP_TITLE,
  SIGN_UP,
  VIRAL_ARTICLE,
} from "../shop.ts";

/** How the demo shop's pages reach Footfall. */
export interface Tag {
  readonly server: string;
  readonly apiKey: string;
  /** Whether the shop can show what the server has stored. */
  readonly showsArrivals: boolean;
}

const euros = (price: number) => `€${price.toFixed(2)}`;

/** Returns the data URL of an abstract picture in two colours. */
function drawing([dark, light]: Product["colours"]): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 3 2" preserveAspectRatio="none">
    <defs><radialGradient id="g" cx=".3" cy=".3"><stop stop-color="${light}"/>
    <stop offset="1" stop-color="${dark}"/></radialGradient></defs>
    <rect width="3" height="2" fill="url(#g)"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

const art = (product: Product) =>
  `<img class="art" alt="${product.name}" src="${drawing(product.colours)}">`;

const card = (product: Product) =>
  `<li><a href="${product.page.path}">${art(product)}<div class="words">
    <h2>${product.name}</h2><p>${product.text} ${euros(product.price)}</p></div></a></li>`;

const heading = ({ title }: Page) => `<h1>${title.split(" – ")[0]}</h1>`;

/** Returns the products that a category's page shows: its own first, then others, six in total. */
function productsOf({ path }: Page): readonly Product[] {
  const own = PRODUCTS.filter(({ category }) => `/${category}` === path);
  const rest = PRODUCTS.filter((product) => !own.includes(product));
  return [...own, ...rest].slice(0, 6);
}

const PARAGRAPHS = [
  "A roast begins an hour before the first bean falls. The drum takes that long to hold its heat evenly, and an uneven drum makes an uneven coffee.",
  "We charge at two hundred degrees and watch the beans lose their water. They turn from green to the yellow of straw, and the room begins to smell of bread.",
  "Then comes the part that nobody can hurry. Sugars brown, acids form and fade, and every bean in the drum has its own opinion about when it is done.",
  "The first crack sounds like dry twigs. From here on it is a matter of seconds, and the difference between two seconds is a different coffee.",
  "We stop, cool with nothing but air, and wait for a day before we taste. Fresh coffee is not better coffee; it is only younger.",
];
const text = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => `<p>${PARAGRAPHS[(from + i) % PARAGRAPHS.length]}</p>`)
    .join("");

const filler = (title: string) =>
  `<section class="filler"><h2>${title}</h2>${text(0, 5)}${text(1, 3)}</section>`;

const BODIES: Readonly<Record<PageKind, (page: Page) => string>> = {
  home: (page) =>
    `<section id="hero"><div>${heading(page)}
      <p>A small shop that sells nothing. Click around: the panel shows what Footfall has stored of your visit.</p>
      <a class="button" href="/coffee">See the coffee</a></div>${art(PRODUCTS[0]!)}</section>
    <ul class="grid" id="bestsellers">${PRODUCTS.slice(0, 3).map(card).join("")}</ul>
    ${filler("How we roast")}`,
  category: (page) =>
    `<div class="bar">${heading(page)}</div><div class="browse"><form id="filter">
      <label><input type="checkbox"> In stock</label><label><input type="checkbox"> New</label>
      <label><input type="checkbox"> Organic</label></form>
    <ul class="grid long products">${productsOf(page).map(card).join("")}</ul></div>`,
  product: (page) => {
    const product = PRODUCTS.find((one) => one.page === page)!;
    return `<section class="split"><img class="product-photo" alt="${product.name}"
        src="${drawing(product.colours)}"><div>${heading(page)}<p>${product.text}</p>
      <p>${
      euros(product.price)
    }. A click on the picture does nothing: it is a <em>dead</em> one, and three are <em>rage</em>.</p>
      <select id="grind-size" aria-label="Grind size"><option>Whole beans</option><option>Filter</option></select>
      <button id="add-to-cart" data-sku="${product.sku}">Add to cart</button></div></section>
    <div id="reviews"><details><summary>Reviews</summary><p>Nobody has said anything yet.</p></details></div>
    ${filler("Where it comes from")}`;
  },
  article: (page) =>
    `<article>${heading(page)}${text(0, 4)}
      <p class="link"><a href="${HOME.path}coffee">The coffee that we mean</a></p>
      <figure><img alt="A chart without numbers" src="${drawing(PRODUCTS[4]!.colours)}"></figure>${
      text(1, 5)
    }${text(2, 5)}
      <aside><a class="product" href="${PRODUCTS[4]!.page.path}">${
      PRODUCTS[4]!.name
    }</a></aside></article>`,
  cart: (page) =>
    `<div class="bar">${heading(page)}</div><div id="rows"></div>
    <p></p><button id="checkout">Check out</button>
    <p>Our <a href="/price-list.csv" download>price list</a> is a download, and
    <a href="https://en.wikipedia.org/wiki/Coffee_roasting">more on roasting</a> an outbound link.</p>`,
  checkout: (page) =>
    `<div class="bar">${
      heading(page)
    }</div><div id="coupon"><details><summary>I have a coupon</summary></details></div>
    <form id="order"><label>E-mail: it becomes your userId <input type="email" name="email" required autocomplete="email"></label>
      <label>Password: never read <input type="password" name="password" autocomplete="off"></label>
      <div id="delivery"><label><input type="radio" name="delivery" checked> By bicycle</label>
      <label><input type="radio" name="delivery"> By tram</label></div>
      <button id="pay">Pay nothing</button></form><p></p>`,
  thanks: (page) =>
    `<div class="bar">${heading(page)}</div><p>Your order will never arrive.</p>
    <a class="button continue" href="${HOME.path}">Once more</a><p></p>`,
  account: (page) =>
    `<div class="bar">${heading(page)}</div><form id="account">
      <label>E-mail <input type="email" name="email" required autocomplete="email"></label>
      <label>Password <input type="password" name="password" autocomplete="off"></label>
      <button type="submit">${page === SIGN_UP ? "Create it" : "Sign in"}</button></form><p></p>`,
};

const ARRIVALS = `<aside id="arrivals" data-footfall-ignore aria-live="polite">
  <h2>Stored by Footfall</h2><p>Nothing yet: events are sent in batches, after five seconds at most.</p><ol></ol></aside>`;

const [COFFEE, EQUIPMENT] = CATEGORIES;

/** Returns the HTML of a page of the shop; null: there is none at this path. */
export function demoPage(path: string, { server, apiKey, showsArrivals }: Tag): string | null {
  const page = PAGES.find((one) => one.path === path);
  if (page === undefined) return null;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/style.css">
<script defer src="${server}/sdk.js" data-api-key="${apiKey}" data-vitals></script>
<script defer src="/shop.js"></script>
<header><a class="logo" href="/">${SHOP_TITLE}</a>
  <nav><a href="${COFFEE!.path}">Coffee</a><a href="${EQUIPMENT!.path}">Equipment</a>
  <a href="${VIRAL_ARTICLE.path}">Journal</a><a class="cart" href="/cart">Cart</a></nav></header>
<main>${BODIES[page.kind](page)}</main>
<footer><a href="${CATEGORIES[3]!.path}">Sale</a><a href="${ARTICLES[0]!.path}">First espresso</a>
  <a href="${SIGN_UP.path}">Account</a>
  <button class="quiet" id="opt-out" data-footfall-ignore>Do not record me</button></footer>
${showsArrivals ? ARRIVALS : ""}
</html>
`;
}
