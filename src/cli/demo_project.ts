import { SHOP_CURRENCY, SHOP_NAME, SHOP_ORIGIN, SHOP_TIMEZONE } from "../demo/shop.ts";
import { callApi, type Connection, listProjects } from "./connection.ts";

export const DEMO_PROJECT = "prj_demo";

const GOALS = {
  purchase: {
    title: "Purchase",
    match: { name: "purchase" },
    value: { property: "value", currency: SHOP_CURRENCY },
  },
  "sign-up": { title: "Account created", match: { name: "sign_up" } },
};
const SEGMENTS = {
  buyers: { title: "Buyers", actors: { goal: "purchase" } },
  "account-and-no-purchase": {
    title: "Account, and no purchase",
    actors: {
      all: [{ goal: "sign-up", within: "30d" }, { not: { goal: "purchase", within: "30d" } }],
    },
  },
  "phones-from-search": {
    title: "On phones, from a search",
    filters: [
      { field: "device", op: "is", values: ["mobile"] },
      { field: "channel", op: "is", values: ["Organic Search"] },
    ],
  },
};
const FUNNEL = {
  slug: "checkout",
  title: "From product to purchase",
  steps: [
    { name: "view_product", label: "Looked at a product" },
    { name: "add_to_cart", label: "Put it into the cart" },
    { name: "begin_checkout", label: "Went to the checkout" },
    { name: "purchase", label: "Bought it" },
  ],
  window: "1d",
};

/**
 * Returns the id of the demo shop's project, which it makes with goals, segments and a funnel if there is none
 * yet. The demo has its own project, so that invented visitors never mix with real ones.
 */
export async function provideDemoProject(connection: Connection): Promise<string> {
  const projects = await listProjects(connection);
  if (projects.some((project) => project.id === DEMO_PROJECT)) return DEMO_PROJECT;
  await callApi(connection, "POST", "/v1/projects", {
    id: DEMO_PROJECT,
    name: SHOP_NAME,
    timezone: SHOP_TIMEZONE,
    siteUrl: SHOP_ORIGIN,
  });
  for (const [slug, goal] of Object.entries(GOALS)) {
    await callApi(connection, "PUT", `/v1/goals/${slug}?project=${DEMO_PROJECT}`, goal);
  }
  for (const [slug, segment] of Object.entries(SEGMENTS)) {
    await callApi(connection, "PUT", `/v1/segments/${slug}?project=${DEMO_PROJECT}`, segment);
  }
  const { slug, ...funnel } = FUNNEL;
  await callApi(connection, "PUT", `/v1/funnels/${slug}?project=${DEMO_PROJECT}`, funnel);
  return DEMO_PROJECT;
}
