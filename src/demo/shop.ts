/** The demo shop: a small coffee roaster, its pages and what it sells. */

export const SHOP_NAME = "Demo shop";
export const SHOP_TITLE = "Morrow Coffee";
/** The port at which `footfall demo` opens it, and so a part of the host of its visitors' events. */
export const SHOP_PORT = 8001;
export const SHOP_ORIGIN = `http://localhost:${SHOP_PORT}`;
export const SHOP_TIMEZONE = "Europe/Berlin";
export const SHOP_CURRENCY = "EUR";

export type PageKind =
  | "home"
  | "category"
  | "product"
  | "article"
  | "cart"
  | "checkout"
  | "thanks"
  | "account";

export interface Page {
  readonly kind: PageKind;
  readonly path: string;
  readonly title: string;
}

export interface Product {
  readonly sku: string;
  readonly name: string;
  readonly text: string;
  readonly category: string;
  /** In euros. */
  readonly price: number;
  /** How often people look at it, relative to the others. */
  readonly weight: number;
  /** Two colours of its picture. */
  readonly colours: readonly [string, string];
  readonly page: Page;
}

const page = (kind: PageKind, path: string, title: string): Page => ({
  kind,
  path,
  title: `${title} – ${SHOP_TITLE}`,
});

export const HOME = page("home", "/", "Freshly roasted every week");
export const SALE = page("category", "/sale", "Sale");
export const CART = page("cart", "/cart", "Your cart");
export const CHECKOUT = page("checkout", "/checkout", "Checkout");
export const THANKS = page("thanks", "/checkout/thanks", "Thank you");
export const SIGN_UP = page("account", "/account/new", "Create an account");
export const SIGN_IN = page("account", "/account/sign-in", "Sign in");

export const CATEGORIES: readonly Page[] = [
  page("category", "/coffee", "Coffee"),
  page("category", "/equipment", "Equipment"),
  page("category", "/subscriptions", "Subscriptions"),
  SALE,
];

/** The article that is suddenly read by the whole internet. */
export const VIRAL_ARTICLE = page(
  "article",
  "/journal/we-measured-500-grinders",
  "We measured 500 grinders",
);
export const ARTICLES: readonly Page[] = [
  page("article", "/journal/first-espresso", "Your first espresso"),
  page("article", "/journal/water", "Why water matters"),
  page("article", "/journal/filter-basics", "Filter coffee, step by step"),
];

const product = (
  sku: string,
  name: string,
  category: string,
  price: number,
  weight: number,
  colours: readonly [string, string],
  text: string,
): Product => ({
  sku,
  name,
  text,
  category,
  price,
  weight,
  colours,
  page: page("product", `/products/${sku}`, name),
});

const BROWN = ["#7a4a2b", "#d9a066"] as const;
const TEAL = ["#2f5d62", "#a7c4bc"] as const;
const STEEL = ["#5f6b6d", "#d5dbd8"] as const;

export const PRODUCTS: readonly Product[] = [
  product("ethiopia-guji", "Ethiopia Guji", "coffee", 14.9, 20, TEAL, "Jasmine, lemon, black tea."),
  product("colombia-huila", "Colombia Huila", "coffee", 12.5, 16, BROWN, "Caramel and red apple."),
  product("house-espresso", "House Espresso", "coffee", 10.9, 24, BROWN, "Chocolate and hazelnut."),
  product("decaf-peru", "Decaf Peru", "coffee", 13.5, 6, TEAL, "All of the taste at eleven p.m."),
  product("hand-grinder", "Hand Grinder", "equipment", 89, 9, STEEL, "Steel burrs, 40 clicks."),
  product("pour-over-set", "Pour-over Set", "equipment", 49, 10, STEEL, "Cone, jug, 100 filters."),
  product("gooseneck-kettle", "Gooseneck Kettle", "equipment", 64.5, 7, STEEL, "Holds 92 degrees."),
  product("monthly-discovery", "Monthly Discovery", "subscriptions", 24, 8, TEAL, "Three a month."),
];

export const PAGES: readonly Page[] = [
  ...[HOME, ...CATEGORIES, VIRAL_ARTICLE, ...ARTICLES],
  ...PRODUCTS.map((one) => one.page),
  ...[CART, CHECKOUT, THANKS, SIGN_UP, SIGN_IN],
];

export const SEARCHES = [
  "decaf",
  "grinder",
  "gift",
  "espresso",
  "filter paper",
  "oat milk",
] as const;
