export interface Product {
  readonly sku: string;
  readonly name: string;
  readonly text: string;
  /** In euros. */
  readonly price: number;
  /** Two colours of its picture. */
  readonly colours: readonly [string, string];
}

/** What the demo shop sells. */
export const PRODUCTS: readonly Product[] = [
  {
    sku: "harbour",
    name: "Harbour Blend",
    text: "Chocolate, hazelnut, a long finish. Our house espresso since the first roast.",
    price: 12.5,
    colours: ["#7a4a2b", "#d9a066"],
  },
  {
    sku: "northern-light",
    name: "Northern Light",
    text: "Washed Ethiopian with jasmine and lemon. For filters, and for slow mornings.",
    price: 14,
    colours: ["#2f5d62", "#a7c4bc"],
  },
  {
    sku: "night-shift",
    name: "Night Shift",
    text: "Decaffeinated with mountain water. All of the taste at eleven in the evening.",
    price: 13,
    colours: ["#2b2d42", "#8d99ae"],
  },
  {
    sku: "hand-grinder",
    name: "Hand Grinder",
    text: "Steel burrs, 40 clicks, made to be repaired.",
    price: 89,
    colours: ["#5f6b6d", "#d5dbd8"],
  },
];
