/** What a page does with `@amplitude/analytics-browser` from npm. */
import * as amplitude from "@amplitude/analytics-browser";

Object.assign(globalThis, { amplitude });
