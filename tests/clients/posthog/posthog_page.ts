/** What a page does with `posthog-js` from npm. */
import posthog from "posthog-js";

Object.assign(globalThis, { posthog });
