/// <reference lib="dom" />
import { installPosthog } from "./posthog.ts";

/** The script that PostHog's snippet loads: the SDK, with PostHog's functions at `window.posthog`. */
const source = (document.currentScript as HTMLScriptElement | null)?.src ?? "";
// A page that has a copy of its own says in `api_host` where events go to.
const [, server] = /^(.*)\/(?:static|array\/[^/]+)\/array[^/]*$/.exec(source) ?? [];

// deno-lint-ignore no-explicit-any -- the snippet leaves an array with members
installPosthog((window as any).posthog ??= [], server);
