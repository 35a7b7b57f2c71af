/// <reference lib="dom" />
import { createAnalytics } from "./analytics.ts";
import { type Identity, openIdentity } from "./identity.ts";
import { whenShown } from "./page.ts";
import type { Analytics } from "./sdk.d.ts";
import { openStore, type Store } from "./store.ts";

/** What pages give PostHog's functions, and what its snippet and its own program leave behind. */
// deno-lint-ignore no-explicit-any -- pages give what they like
type Given = any;

/** PostHog's names of events that have another one here. */
const NAMES = new Map(Object.entries({
  $pageview: "page_view",
  $set: "$identify",
  $create_alias: "$alias",
  $groupidentify: "$group",
}));
/** By this name a page's `before_send` knows a page view. */
const PAGE_VIEW = "$pageview";

/** The first `defaults` with which history navigation counts: they are dates, or `unset`. */
const COUNTS_HISTORY = "2025-05-24";
const IDENTIFIER_LENGTH_MAX = 200;

/** A text that PostHog's own program kept; null where the browser refuses it too. */
function readText(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** The object that a text holds; none: an empty one. */
function parsed(text: string | null): Given {
  try {
    return Object(JSON.parse(text!));
  } catch {
    return {};
  }
}

/** Who the visitor was to PostHog's own program, or is by what the page says, he is here. */
function recognize(store: Store, key: string, bootstrap: Given): void {
  const before = parsed(readText(`ph_${key}_posthog`));
  const distinct = `${bootstrap?.distinctID ?? before.distinct_id ?? ""}`;
  const isUser = bootstrap ? bootstrap.isIdentifiedID : before.$user_state === "identified";
  const anonymous = isUser ? before.$device_id : distinct;
  const isKnown = !bootstrap && store.get("anonymousId");
  if (!distinct || isKnown || distinct.length > IDENTIFIER_LENGTH_MAX) return;
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

/** Whether the visitor may be recorded, as the page and PostHog's own program were told. */
function openConsent(key: string, config: Given) {
  const name = `__ph_opt_in_out_${key}`;
  let choice = readText(name);
  return {
    isIn: () => choice === "1",
    isOut: () =>
      choice === "0" || choice !== "1" && !!config.opt_out_capturing_by_default ||
      !!config.respect_dnt && navigator.doNotTrack === "1",
    choose(chosen: string) {
      choice = chosen;
      try {
        localStorage.setItem(name, chosen);
      } catch {
        // It holds for this page.
      }
    },
  };
}

/** What is sent of an event: with what was registered, as the page's `before_send` would have it. */
function tellerOf(config: Given, registered: () => Given) {
  return (name: string, event: Given): unknown => {
    if (name || !event?.eventId) return event;
    const theirs = event.name === "page_view" ? PAGE_VIEW : event.name;
    let sent: Given = {
      uuid: event.eventId,
      event: theirs,
      properties: { ...registered(), ...event.properties, $current_url: event.url },
    };
    for (const look of [config.before_send ?? []].flat()) sent &&= look(sent);
    // With nothing in its place an event is not recorded.
    if (!sent) return;
    const { $current_url: url, ...properties } = sent.properties;
    return { ...event, name: NAMES.get(sent.event) ?? sent.event, url, properties };
  };
}

/** The parts of autocapture that the page asks for; `first`: one page view, and none of its history. */
function wantedOf({ capture_pageview: views, defaults, autocapture }: Given) {
  const pageViews = views === "history_change" ||
    views === undefined && defaults >= COUNTS_HISTORY && defaults < "a";
  const clicks = autocapture !== false;
  return {
    parts: { pageViews, clicks, links: clicks, scroll: clicks },
    first: views !== false && !pageViews,
  };
}

/** What a project's functions work with. `client`: the one of now, which a choice of the visitor changes. */
interface Work {
  readonly client: () => Analytics;
  readonly capture: () => void;
  readonly identity: Identity;
  readonly register: ReturnType<typeof openRegister>;
  readonly consent: ReturnType<typeof openConsent>;
}

/** Events, and who they are of. */
function recording({ client, identity, register }: Work) {
  function capture(name: string, given?: Given, options?: Given) {
    const { $current_url: url, ...rest } = Object(given);
    const { timestamp, $set, $set_once } = Object(options);
    const details = { ...url && { url }, ...timestamp && { timestamp } };
    const properties = { ...rest, ...$set && { $set }, ...$set_once && { $set_once } };
    const known = NAMES.get(name) ?? name;
    if (known === "page_view") client().page(properties, details);
    else if (known) client().track(known, properties, details);
  }
  const setTraits = ($set: Given, $set_once?: Given) => capture("$set", {}, { $set, $set_once });
  return {
    capture,
    setPersonProperties: setTraits,
    identify(id: Given, set?: Given, once?: Given) {
      const isNew = id && `${id}` !== identity.get().userId;
      if (isNew) client().identify(id);
      if (isNew || set || once) setTraits(set, once);
    },
    alias(alias: string, original?: string) {
      const { userId, anonymousId } = identity.get();
      const user = original ?? userId;
      const ids = user ? { userId: user, anonymousId: alias } : { userId: alias, anonymousId };
      client().track("$alias", {}, ids);
    },
    group(type: string, key: Given, set?: Given) {
      register.add({ $groups: { ...register.all().$groups, [type]: key } });
      if (set) capture("$groupidentify", { $group_type: type, $group_key: key, $group_set: set });
    },
    get_distinct_id: () => identity.get().userId ?? identity.get().anonymousId,
    reset() {
      identity.reset();
      register.set({});
    },
  };
}

/** What goes with each event, and whether there are any. */
function settings({ client, capture, identity, register, consent }: Work) {
  const add = (properties: Given) => register.add(properties);
  return {
    register: add,
    register_for_session: add,
    register_once: (properties: Given) => register.set({ ...properties, ...register.all() }),
    unregister: (name: string) => add({ [name]: undefined }),
    get_property: (name: string) => register.all()[name],
    opt_out_capturing() {
      consent.choose("0");
      client().optOut();
    },
    opt_in_capturing() {
      consent.choose("1");
      identity.optIn();
      capture();
    },
    has_opted_out_capturing: consent.isOut,
    has_opted_in_capturing: consent.isIn,
    // There are no flags, and pages wait to be told so.
    onFeatureFlags: (called: Given) => called([], {}),
  };
}

/** Makes `target` what PostHog's program makes of a project's key and a page's settings. */
function start(target: Given, key: string, config: Given, server?: string): void {
  const store = openStore(config.persistence !== "memory" && !config.disable_persistence);
  const register = openRegister(store);
  const consent = openConsent(key, config);
  recognize(store, key, config.bootstrap);
  const told = tellerOf(config, register.all);
  const endpoint = server ?? config.api_host;
  const clientFor = (autocapture?: Given) =>
    createAnalytics({
      ...{ apiKey: consent.isOut() ? "" : key, endpoint, autocapture, told, store },
      debug: config.debug,
    });
  let client = clientFor();
  /** Comes after what the page asked for while this was loaded: that holds for the first page view. */
  function capture() {
    const { parts, first } = wantedOf(config);
    client = clientFor(parts);
    if (first) whenShown(() => client.page());
  }
  const work = { client: () => client, capture, identity: openIdentity(store), register, consent };
  const functions = { ...recording(work), ...settings(work) };
  const { setPersonProperties: set } = functions;
  const people: Given = { set, set_once: (once: Given) => set(undefined, once) };
  const waiting: Given[] = target.splice(0);
  const ofPeople: Given[] = target.people ?? [];
  // What else the snippet knows of does nothing.
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
 * Makes what PostHog's snippet left at `window.posthog` work, for each project that the page named, and
 * runs what waits there.
 * @param server where the script came from
 */
export function installPosthog(stub: Given, server?: string): void {
  if (stub.__loaded) return;
  // Before the SDK looks: what is not to be seen by PostHog is not seen by us.
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
