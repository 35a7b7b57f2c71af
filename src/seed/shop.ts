/** The demo shop: a small coffee roaster, its pages and what it sells. */

export const SHOP_NAME = "Demo shop";
export const SHOP_ORIGIN = "https://shop.example";
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
  readonly category: string;
  readonly price: number;
  readonly weight: number;
  readonly page: Page;
}

const page = (kind: PageKind, path: string, title: string): Page => ({
  kind,
  path,
  title: `${title} – Morrow Coffee`,
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

/** The article that the whole internet suddenly reads. */
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
): Product => ({
  sku,
  name,
  category,
  price,
  weight,
  page: page("product", `/products/${sku}`, name),
});

export const PRODUCTS: readonly Product[] = [
  product("ethiopia-guji", "Ethiopia Guji", "coffee", 14.9, 20),
  product("colombia-huila", "Colombia Huila", "coffee", 12.5, 16),
  product("house-espresso", "House Espresso", "coffee", 10.9, 24),
  product("decaf-peru", "Decaf Peru", "coffee", 13.5, 6),
  product("hand-grinder", "Hand Grinder", "equipment", 89, 9),
  product("pour-over-set", "Pour-over Set", "equipment", 49, 10),
  product("gooseneck-kettle", "Gooseneck Kettle", "equipment", 64.5, 7),
  product("monthly-discovery", "Monthly Discovery", "subscriptions", 24, 8),
];

export const SEARCHES = [
  "decaf",
  "grinder",
  "gift",
  "espresso",
  "filter paper",
  "oat milk",
] as const;
