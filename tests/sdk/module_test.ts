import assert from "node:assert/strict";
import { createAnalytics } from "../../src/sdk/module.ts";

/** As programs write down what they know: in an interface, which has no index signature. */
interface Order {
  readonly sku: string;
  readonly total: number;
}

Deno.test("module: properties may be of an interface's type", () => {
  const order: Order = { sku: "A-12", total: 19.5 };
  const analytics = createAnalytics({});
  assert.equal(analytics.track("order_paid", order), undefined);
  assert.equal(analytics.page(order), undefined);
});
