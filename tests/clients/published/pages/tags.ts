/// <reference lib="dom" />
/** A page with Umami's or Plausible's usual script tag, put in by `load`. `track` reports some events. */
const mistakes: string[] = [];
console.error = console.warn = (...said: unknown[]) => void mistakes.push(said.join(" "));
addEventListener("error", ({ message }) => void mistakes.push(message));
addEventListener("unhandledrejection", ({ reason }) => void mistakes.push(String(reason)));

// deno-lint-ignore no-explicit-any -- functions of the scripts
const page = globalThis as any;

Object.assign(globalThis, {
  mistakes,
  async load(key: string, url: string, isPlausible: boolean) {
    const tag = document.createElement("script");
    tag.src = url + (isPlausible ? "/js/script.outbound-links.js" : "/script.js");
    tag.dataset[isPlausible ? "domain" : "websiteId"] = key;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    tag.onload = () => resolve();
    tag.onerror = () => reject(new Error("the script did not load"));
    document.head.append(tag);
    await promise;
    page.isPlausible = isPlausible;
  },
  track(from: number, count: number) {
    for (let number = from; number < from + count; number++) {
      if (page.isPlausible) page.plausible("Clicked", { props: { number } });
      else page.umami.track("Clicked", { number });
    }
  },
  others() {
    if (!page.isPlausible) return page.umami.identify("user-7", { plan: "b" });
  },
});
