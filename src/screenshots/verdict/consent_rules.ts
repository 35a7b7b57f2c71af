import { filterCompactRules } from "@duckduckgo/autoconsent";
import library from "@duckduckgo/autoconsent" with { type: "text" };
import rules from "@duckduckgo/autoconsent/rules/compact-rules.json" with { type: "json" };
import type { Protocol } from "puppeteer-core/lib/puppeteer/puppeteer-core-browser.js";
import { ACCEPT_WORDS, REFUSE_WORDS } from "./consent_words.ts";
import { pause } from "../../turns/pause.ts";
import type { PageSession } from "../page_session.ts";
import { folded } from "../phrases.ts";

/** The frames in which known banners are searched for, the main frame first. */
const FRAMES_MAX = 12;
const POLL_MS = 40;
const BINDING = "footfallSend";
/** The library's settings: it only refuses, hides nothing in advance, and does not guess. */
const CONFIG = {
  enabled: true,
  autoAction: "optOut",
  disabledCmps: [],
  enablePrehide: false,
  enableCosmeticRules: false,
  enableGeneratedRules: true,
  enableHeuristicDetection: false,
  heuristicMode: "off",
  detectRetries: 1,
  isMainWorld: false,
  prehideTimeout: 0,
  visualTest: false,
};
/** States after which nothing more happens in a frame. */
const ENDS = new Set(["nothingDetected", "optOutSucceeded", "optOutFailed", "done"]);

/** A message of the library in a frame; other types are ignored. */
interface FrameMessage {
  readonly type: string;
  readonly id?: string;
  readonly code?: string;
  readonly result?: boolean;
  readonly state?: { readonly lifecycle?: string };
}

/** Runs in a frame: makes clicks by the library on buttons that agree do nothing, whatever its rules say. */
function refuseOnly(accept: string[], refuse: string[]): void {
  const words = (text: string) =>
    ` ${
      text.toLowerCase().normalize("NFKD").replaceAll(/\p{M}/gu, "")
        .replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim()
    } `;
  const says = (text: string, phrases: string[]) =>
    phrases.some((phrase) => words(text).includes(` ${phrase} `));
  // deno-lint-ignore no-explicit-any -- the frame's world, which has no types here
  const prototype = (globalThis as any).HTMLElement.prototype;
  const click = prototype.click;
  // deno-lint-ignore no-explicit-any -- as above
  prototype.click = function (this: any) {
    const text = this.innerText || this.value || this.ariaLabel || "";
    if (says(text, accept) && !says(text, refuse)) return;
    click.call(this);
  };
}

/** The library as a script for the isolated world of a frame, without its last statement, a list of exports. */
const SCRIPT = `(() => {
${library.replace(/export\s*\{[^}]*\};?\s*$/, "")}
(${refuseOnly})(${JSON.stringify(ACCEPT_WORDS.map(folded))}, ${
  JSON.stringify(REFUSE_WORDS.map(folded))
});
const consent = new AutoConsent(
  (message) => { ${BINDING}(JSON.stringify(message)); return Promise.resolve(); },
  null,
  { autoconsent: [] },
);
globalThis.footfallReceive = (message) => { consent.receiveMessageCallback(message); };
})()`;

/**
 * Refuses consent by the library's rules for known banners, within `msMax`. @returns whether a rule reports success.
 * Throws what the browser's protocol throws.
 */
export async function refuseByRules(session: PageSession, msMax: number): Promise<boolean> {
  const endMs = performance.now() + msMax;
  const frames = (await session.frames()).slice(0, FRAMES_MAX);
  const pending = new Map<number, Protocol.Page.Frame>();
  let isRefused = false;
  const receive = ({ name, payload, executionContextId }: Protocol.Runtime.BindingCalledEvent) => {
    const frame = pending.get(executionContextId);
    if (name !== BINDING || frame === undefined) return;
    const message: FrameMessage = JSON.parse(payload);
    if (message.type === "optOutResult" && message.result === true) isRefused = true;
    if (ENDS.has(message.state?.lifecycle ?? "")) pending.delete(executionContextId);
    else reply(session, executionContextId, frame, message).catch(() => {});
  };
  session.cdp.on("Runtime.bindingCalled", receive);
  try {
    await session.cdp.send("Runtime.addBinding", {
      name: BINDING,
      executionContextName: "footfall",
    });
    for (const frame of frames) {
      const contextId = await session.world(frame.id);
      pending.set(contextId, frame);
      await session.cdp.send("Runtime.evaluate", { expression: SCRIPT, contextId });
    }
    while (!isRefused && pending.size > 0 && performance.now() < endMs) await pause(POLL_MS);
  } finally {
    session.cdp.off("Runtime.bindingCalled", receive);
  }
  return isRefused;
}

async function reply(
  session: PageSession,
  contextId: number,
  frame: Protocol.Page.Frame,
  message: FrameMessage,
): Promise<void> {
  const isMain = frame.id === session.frameId;
  const send = (message: unknown) =>
    session.cdp.send("Runtime.evaluate", {
      expression: `footfallReceive(${JSON.stringify(message)})`,
      contextId,
    });
  if (message.type === "init") {
    const compact = filterCompactRules(
      rules as unknown as Parameters<typeof filterCompactRules>[0],
      {
        url: frame.url,
        mainFrame: isMain,
      },
    );
    await send({ type: "initResp", config: CONFIG, rules: { compact } });
  }
  if (message.type === "eval") {
    // The banners' own functions are in the page's world; those of other frames are not called.
    const result = isMain
      ? await session.cdp.send("Runtime.evaluate", {
        expression: message.code ?? "false",
        awaitPromise: true,
        returnByValue: true,
      }).then(({ result }) => result.value, () => false)
      : false;
    await send({ type: "evalResp", id: message.id, result });
  }
}
