/** The API's limit. */
export const SLUG_LENGTH_MAX = 63;

/** The slug of a title: that of "Café visit" is cafe-visit; `fallback` if nothing is left. */
export function slugOf(title: string, fallback: string): string {
  const text = title.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
    .replace(/[^a-z0-9]+/g, "-").replace(/^-/, "").slice(0, SLUG_LENGTH_MAX).replace(/-$/, "");
  return text === "" ? fallback : text;
}

/** The first slug of a title that is not taken: checkout, checkout-2, checkout-3… */
export function freeSlugOf(title: string, fallback: string, taken: readonly string[]): string {
  const slug = slugOf(title, fallback);
  for (let n = 1;; n++) {
    const end = n === 1 ? "" : `-${n}`;
    const free = slug.slice(0, SLUG_LENGTH_MAX - end.length).replace(/-$/, "") + end;
    if (!taken.includes(free)) return free;
  }
}

/** What is wrong with a slug; null: nothing. */
export function slugFault(slug: string): string | null {
  return /^[a-z0-9][a-z0-9-]{0,62}$/.test(slug)
    ? null
    : "Use up to 63 lower-case letters, digits and hyphens, not beginning with a hyphen.";
}
