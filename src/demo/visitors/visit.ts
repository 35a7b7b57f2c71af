import type { Device } from "./devices.ts";
import { aimClick, scrollOn } from "./layout.ts";
import { Random } from "./random.ts";
import {
  ARTICLES,
  CART,
  CATEGORIES,
  CHECKOUT,
  HOME,
  type Page,
  type Product,
  PRODUCTS,
  SEARCHES,
  SHOP_CURRENCY,
  SIGN_IN,
  SIGN_UP,
  THANKS,
} from "../shop.ts";
import type { Arrival, TrafficSource } from "./sources.ts";
import { vitalsOn } from "./vitals.ts";

/** One event as `POST /v1/events` takes it. */
export interface DemoEvent {
  readonly eventId: string;
  readonly name: string;
  /** ISO 8601, in UTC. */
  readonly timestamp: string;
  readonly anonymousId?: string;
  readonly userId?: string;
  readonly url: string;
  readonly referrer?: string;
  readonly title: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly context: Readonly<Record<string, unknown>>;
}

/** What is known about a visit before it begins. */
export interface VisitPlan {
  /** The shop's origin, e.g. `https://shop.example`. */
  readonly origin: string;
  readonly startMs: number;
  readonly source: TrafficSource;
  readonly device: Device;
  readonly anonymousId: string | null;
  /** Sent from the first page on, because the person signed in on this device before; null: unknown. */
  readonly userId: string | null;
  /** The person signs up within the visit, or signs in on this device for the first time; null: neither. */
  readonly signsAs: { readonly event: "sign_up" | "login"; readonly userId: string } | null;
  readonly locale: string;
  readonly timezone: string;
  /** 0–1: how likely the person buys. */
  readonly appetite: number;
}

const SECOND_MS = 1000;

const euros = (amount: number): number => Math.round(amount * 100) / 100;

/** Writes one visit, page after page, as the browser SDK would have sent it. */
class VisitTape {
  readonly events: DemoEvent[] = [];
  #timeMs: number;
  #page: Page = HOME;
  #url: string;
  #userId: string | null;

  constructor(readonly plan: VisitPlan, readonly random: Random) {
    this.#timeMs = plan.startMs;
    this.#url = plan.origin;
    this.#userId = plan.userId;
  }

  signAs(event: string, userId: string): void {
    this.#userId = userId;
    this.custom(event, { method: "email" });
  }

  /** Arrives at the shop. */
  land({ landing, query, referrer }: Arrival): void {
    this.#page = landing;
    this.#url = `${this.plan.origin}${landing.path}${query}`;
    this.#emit("page_view", undefined, referrer);
  }

  /** Goes on to another page of the shop. */
  open(page: Page): void {
    this.leave();
    const before = this.#url;
    this.#page = page;
    this.#url = `${this.plan.origin}${page.path}`;
    this.#emit("page_view", undefined, before);
  }

  /** Reads the page for a while and clicks about on it. */
  read(meanSeconds: number): void {
    const { random } = this;
    this.wait(2 + random.exponential(meanSeconds));
    if (random.chance(0.5)) this.click();
    if (random.chance(0.012)) this.rage();
  }

  click(selector: string | null = null): void {
    this.#emit("click", { ...aimClick(this.#page.kind, this.plan.device, this.random, selector) });
    this.wait(0.3 + this.random.exponential(1.5));
  }

  /** Three to six clicks within a second, because nothing happens. */
  rage(): void {
    const aimed = aimClick(this.#page.kind, this.plan.device, this.random);
    for (let left = this.random.integer(3, 6); left > 0; left--) {
      this.#emit("click", {
        ...aimed,
        y: Math.max(0, aimed.y - this.random.integer(0, 4)),
        rage: true,
        dead: true,
      });
      this.wait(0.16);
    }
  }

  custom(name: string, properties: Record<string, unknown>): void {
    this.#emit(name, properties);
    this.wait(1 + this.random.exponential(3));
  }

  wait(seconds: number): void {
    this.#timeMs += Math.round(seconds * SECOND_MS);
  }

  /** Leaves the page: sends its scroll depth and its web vitals. A few are lost, as in real life. */
  leave(): void {
    if (this.random.chance(0.06)) return;
    this.wait(0.2);
    this.#emit("scroll", { ...scrollOn(this.#page.kind, this.plan.device, this.random) });
    this.#measure();
    this.wait(0.4);
  }

  /** Sends web vitals. They have their own randomness, so that what people do does not depend on them. */
  #measure(): void {
    const random = new Random(`vitals/${this.plan.anonymousId}/${this.#timeMs}`);
    const measured = vitalsOn(this.#page.kind, this.plan.device, random);
    if (measured !== null) this.#emit("$web_vitals", measured, null, random);
  }

  #emit(
    name: string,
    properties?: Readonly<Record<string, unknown>>,
    referrer: string | null = null,
    random = this.random,
  ): void {
    const { anonymousId, device, locale, timezone } = this.plan;
    const pointer = name === "click" || name === "scroll";
    this.events.push({
      eventId: random.uuidAt(this.#timeMs),
      name,
      timestamp: new Date(this.#timeMs).toISOString(),
      ...(anonymousId === null ? {} : { anonymousId }),
      ...(this.#userId === null ? {} : { userId: this.#userId }),
      url: this.#url,
      ...(referrer === null ? {} : { referrer }),
      title: this.#page.title,
      ...(properties === undefined ? {} : { properties }),
      context: {
        ...(pointer ? {} : { viewport: device.viewport }),
        screen: device.screen,
        locale,
        timezone,
      },
    });
  }
}

function viewProduct(tape: VisitTape, product: Product, open: boolean): void {
  if (open) tape.open(product.page);
  const { sku, name, category, price } = product;
  tape.wait(0.5);
  tape.custom("view_product", { sku, name, category, price, currency: SHOP_CURRENCY });
  tape.read(28);
}

/** Cart, checkout, payment: at each step some give up, on phones more than on other devices. */
function checkOut(tape: VisitTape, cart: readonly Product[]): void {
  const { plan, random } = tape;
  const patience = plan.device.class === "mobile" ? 0.8 : 1;
  const value = euros(cart.reduce((sum, product) => sum + product.price, 0));
  const order = { value, currency: SHOP_CURRENCY, items: cart.length };
  tape.open(CART);
  tape.read(12);
  if (!random.chance(0.66 * patience)) return;
  tape.click("#checkout");
  tape.open(CHECKOUT);
  tape.custom("begin_checkout", order);
  tape.read(55);
  if (!random.chance(0.64 * patience)) return;
  tape.click("#pay");
  tape.open(THANKS);
  tape.custom("purchase", { orderId: `order-${random.hex(10)}`, ...order });
  tape.read(8);
}

function browse(tape: VisitTape, landing: Page): Product[] {
  const { plan, random } = tape;
  const cart: Product[] = [];
  const consider = (product: Product, open: boolean) => {
    viewProduct(tape, product, open);
    if (!random.chance(0.07 + 0.2 * plan.appetite)) return;
    tape.click("#add-to-cart");
    const { sku, price } = product;
    tape.custom("add_to_cart", { sku, quantity: 1, value: price, currency: SHOP_CURRENCY });
    cart.push(product);
  };
  const landed = PRODUCTS.find((product) => product.page === landing);
  if (landed !== undefined) consider(landed, false);
  for (let pages = 1 + Math.floor(random.exponential(2.6)); pages > 0; pages--) {
    if (random.chance(0.14)) {
      tape.open(random.pick(ARTICLES));
      tape.read(70);
    } else if (random.chance(0.4)) {
      tape.open(random.pick(CATEGORIES));
      tape.read(14);
      if (random.chance(0.12)) {
        tape.custom("search", { query: random.pick(SEARCHES), results: random.integer(0, 9) });
      }
    } else consider(random.weighted(PRODUCTS), true);
  }
  return cart;
}

/** Makes all events of one visit, oldest first. They depend on the plan and on `random` only. */
export function visitEvents(plan: VisitPlan, random: Random): DemoEvent[] {
  const tape = new VisitTape(plan, random);
  const arrival = plan.source.arrive(random);
  tape.land(arrival);
  tape.read(arrival.landing.kind === "article" ? 60 : 18);
  if (plan.signsAs === null && random.chance(plan.source.bounceProbability)) {
    tape.leave();
    return tape.events;
  }
  const cart = browse(tape, arrival.landing);
  if (plan.signsAs !== null) {
    tape.open(plan.signsAs.event === "sign_up" ? SIGN_UP : SIGN_IN);
    tape.read(20);
    tape.click("form button[type=submit]");
    tape.signAs(plan.signsAs.event, plan.signsAs.userId);
  }
  if (cart.length > 0) checkOut(tape, cart);
  tape.leave();
  return tape.events;
}

/** Makes the events of a crawler: page views without clicks, scrolls, identity and referrer. */
export function crawlEvents(plan: VisitPlan, random: Random): DemoEvent[] {
  const tape = new VisitTape(plan, random);
  const pages = [HOME, ...CATEGORIES, ...PRODUCTS.map((product) => product.page), ...ARTICLES];
  for (let left = random.integer(4, 12); left > 0; left--) {
    tape.land({ landing: random.pick(pages), query: "", referrer: null });
    tape.wait(random.integer(2, 20));
  }
  return tape.events;
}
