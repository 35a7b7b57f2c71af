/// <reference lib="dom" />
import { createAnalytics } from "./analytics.ts";
import { openIdentity } from "./identity.ts";
import { whenShown } from "./page.ts";
import type { Analytics } from "./sdk.d.ts";
import { openStore, type Store } from "./store.ts";

/** What pages pass to PostHog's functions, and what its snippet and its own script leave behind. */
// deno-lint-ignore no-explicit-any -- pages give what they like
type Given = any;

/** PostHog's names of events that have another name here. */
const NAMES: Given = {
  __proto__: null,
  $pageview: "page_view",
  $set: "$identify",
  $create_alias: "$alias",
  $groupidentify: "$group",
};
/** Bundled as plain values, which is shorter. */
const enum Known {
  IDENTIFIER_LENGTH = 200,
  /** The first `defaults` with which history navigation counts: they are dates, or `unset`. */
  COUNTS_HISTORY = "2025-05-24",
}

/** A text that PostHog's own script stored; undefined: the browser refuses. */
function readText(name: string): string | null | undefined {
  try {
    return localStorage.getItem(name);
  } catch {
    // Nothing can be read.
  }
}

/** The object in a JSON text; an empty one if there is none. */
function parsed(text: Given): Given {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Ends the takeover of ids from PostHog's own script: a visitor who was reset stays reset. */
const closeRecognition = (store: Store) => store.set("posthog", "1");

/** Takes over the visitor's ids from the page's `bootstrap`, or else from PostHog's own script. */
function recognize(store: Store, key: string, bootstrap: Given): void {
  // A store that ends with the page could not tell the next one that this was read.
  const isOpen = store.shared && !store.get("posthog");
  const before = parsed(isOpen && readText(`ph_${key}_posthog`));
  closeRecognition(store);
  const distinct = `${bootstrap?.distinctID ?? before.distinct_id ?? ""}`;
  const isUser = bootstrap ? bootstrap.isIdentifiedID : before.$user_state === "identified";
  const anonymous = isUser ? before.$device_id : distinct;
  if (!distinct || distinct.length > Known.IDENTIFIER_LENGTH) return;
  if (!bootstrap && store.get("anonymousId")) return;
  if (anonymous) store.set("anonymousId", anonymous);
  if (isUser) store.set("userId", distinct);
}

/** What the page registered, which goes with each event. */
function openRegister(store: Store) {
  const all = () => parsed(store.get("registered"));
  return {
    all,
    set: (properties: Given) => store.set("registered", JSON.stringify(properties)),
    add(properties: Given) {
      this.set({ ...all(), ...properties });
    },
  };
}

/** Whether the visitor may be recorded, by the page's settings and the choice stored as by PostHog. */
function openConsent(key: string, config: Given) {
  const name = `__ph_opt_in_out_${key}`;
  let choice = readText(name);
  return {
    isIn: () => choice === "1",
    isOut: () =>
      choice === "0" || !!(choice !== "1" && config.opt_out_capturing_by_default ||
        config.respect_dnt && navigator.doNotTrack === "1"),
    choose(chosen: string) {
      choice = chosen;
      try {
        localStorage.setItem(name, chosen);
      } catch {
        // The choice lasts as long as this page.
      }
    },
  };
}

/** Makes the function that adds registered properties to events, and applies the page's `before_send`. */
function tellerOf(config: Given, registered: () => Given) {
  return (name: string, event: Given): unknown => {
    if (name || !event?.eventId) return event;
    const isView = event.name === "page_view";
    const own = { ...registered(), ...event.properties };
    let sent: Given = {
      uuid: event.eventId,
      // The name that a page's `before_send` expects.
      event: isView ? "$pageview" : event.name,
      properties: {
        title: event.title,
        $referrer: event.referrer,
        ...own,
        $current_url: event.url,
      },
    };
    for (const look of [config.before_send ?? []].flat()) sent &&= look(sent);
    // `before_send` cancelled the event.
    if (!sent) return;
    let { $current_url: url, $referrer: referrer, title, ...properties } = sent.properties;
    if (!isView && own.title) {
      // The event's own property, not the page's title.
      properties.title = title;
      title = undefined;
    }
    return { ...event, name: NAMES[sent.event] ?? sent.event, url, referrer, title, properties };
  };
}

/** The parts of autocapture that the page asks for, and whether one page view counts, without history. */
function wantedOf({ capture_pageview: views, defaults, autocapture }: Given) {
  const pageViews = views === "history_change" ||
    views === undefined && defaults >= Known.COUNTS_HISTORY && defaults < "a";
  const clicks = autocapture !== false;
  const parts = { pageViews, clicks, links: clicks, scroll: clicks };
  return [parts, views !== false && !pageViews] as const;
}

type Client = () => Analytics;
type Register = ReturnType<typeof openRegister>;
type Consent = ReturnType<typeof openConsent>;

/**
 * The functions that record events and identify the visitor.
 * @param client the present one: the visitor's consent changes it
 * @param who the visitor's ids; none while nothing may be recorded
 */
function recording(client: Client, register: Register, who: () => Given, forget: () => void) {
  function capture(name: string, given?: Given, options?: Given) {
    const { $current_url: url, ...rest } = Object(given);
    const { timestamp, $set, $set_once } = Object(options);
    const details = { ...url && { url }, ...timestamp && { timestamp } };
    const properties = { ...rest, ...$set && { $set }, ...$set_once && { $set_once } };
    const known = NAMES[name] ?? name;
    if (known === "page_view") client().page(properties, details);
    else if (known) client().track(known, properties, details);
  }
  const setTraits = ($set: Given, $set_once?: Given) => capture("$set", {}, { $set, $set_once });
  return {
    capture,
    setPersonProperties: setTraits,
    identify(id: Given, set?: Given, once?: Given) {
      const isNew = id && `${id}` !== who().userId;
      if (isNew) client().identify(id);
      if (isNew || set || once) setTraits(set, once);
    },
    alias(alias: string, original?: string) {
      const userId = original ?? who().userId;
      const ids = userId ? { userId, anonymousId: alias } : { ...who(), userId: alias };
      client().track("$alias", {}, ids);
    },
    group(type: string, key: Given, set?: Given) {
      register.add({ $groups: { ...register.all().$groups, [type]: key } });
      if (set) capture("$groupidentify", { $group_type: type, $group_key: key, $group_set: set });
    },
    get_distinct_id: () => who().userId ?? who().anonymousId,
    reset: forget,
  };
}

/** The functions for registered properties and for the visitor's consent. */
function settings(client: Client, register: Register, consent: Consent, optIn: () => void) {
  const add = (properties: Given) => register.add(properties);
  return {
    register: add,
    register_for_session: add,
    register_once: (properties: Given) => add({ ...properties, ...register.all() }),
    unregister: (name: string) => add({ [name]: undefined }),
    get_property: (name: string) => register.all()[name],
    opt_out_capturing() {
      consent.choose("0");
      client().optOut();
    },
    opt_in_capturing: optIn,
    has_opted_out_capturing: consent.isOut,
    has_opted_in_capturing: consent.isIn,
    // There are no flags; pages wait for this call.
    onFeatureFlags: (called: Given) => called([], {}),
  };
}

/** Gives `target` the functions that PostHog's script would, for a project's key and a page's settings. */
function start(target: Given, key: string, config: Given, server?: string): void {
  const store = openStore(config.persistence !== "memory" && !config.disable_persistence);
  const register = openRegister(store);
  const consent = openConsent(key, config);
  const identity = openIdentity(store);
  const isOut = () => consent.isOut() || identity.optedOut();
  const begin = () => isOut() || recognize(store, key, config.bootstrap);
  begin();
  const told = tellerOf(config, register.all);
  const clientFor = (autocapture?: Given) =>
    createAnalytics({
      apiKey: consent.isOut() ? "" : key,
      autocapture,
      told,
      store,
      endpoint: server ?? config.api_host,
      debug: config.debug,
    });
  let client = clientFor();
  let isViewed = false;
  /** Records the page's first view, once, however often the visitor agrees. */
  function view() {
    if (isViewed || isOut()) return;
    isViewed = true;
    client.page();
  }
  /** Called after the page's waiting calls have run: these also apply to the first page view. */
  function capture() {
    const [parts, first] = wantedOf(config);
    client = clientFor(parts);
    if (first) whenShown(view);
  }
  function forget() {
    identity.reset();
    closeRecognition(store);
    register.set({});
  }
  function optIn() {
    consent.choose("1");
    // Opting out forgot the visitor's ids, which must not be taken over again.
    if (identity.optedOut()) closeRecognition(store);
    identity.optIn();
    begin();
    capture();
  }
  const now = () => client;
  const functions = {
    ...recording(now, register, () => isOut() ? {} : identity.get(), forget),
    ...settings(now, register, consent, optIn),
  };
  const set = functions.setPersonProperties;
  const people: Given = { set, set_once: (once: Given) => set(undefined, once) };
  const waiting: Given[] = target.splice(0);
  const ofPeople: Given[] = target.people ?? [];
  // The snippet's other functions do nothing.
  for (const name in target) {
    if (typeof target[name] === "function" && name !== "init") target[name] = () => {};
  }
  Object.assign(target, functions, {
    people,
    config,
    set_config: (more: Given) => Object.assign(config, more),
    push: ([name, ...given]: Given) => target[name]?.(...given),
    __loaded: true,
  });
  config.loaded?.(target);
  waiting.forEach(target.push);
  for (const [name, ...given] of ofPeople) people[name]?.(...given);
  capture();
}

/**
 * Makes the stub that PostHog's snippet left at `window.posthog` work, for each project of the page, and
 * runs the calls that wait in it.
 * @param server where the script came from
 */
export function installPosthog(stub: Given, server?: string): void {
  if (stub.__loaded) return;
  // Before the SDK's listener: it ignores what PostHog would ignore.
  for (const type of ["click", "auxclick"]) {
    addEventListener(type, ({ target }: Given) => {
      target.closest?.(".ph-no-capture")?.setAttribute("data-footfall-ignore", "");
    }, true);
  }
  stub.init = (key: string, config?: Given, name = "posthog") => {
    const target = name === "posthog" ? stub : stub[name] ??= [];
    if (!target.__loaded) start(target, key, Object(config), server);
    return target;
  };
  for (const given of stub._i ?? []) stub.init(...given);
}
