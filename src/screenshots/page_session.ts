import type {
  CDPSession,
  Page,
  Protocol,
} from "puppeteer-core/lib/puppeteer/puppeteer-core-browser.js";
import { CAPTURE_CALL_MS_MAX } from "./capture_limits.ts";

/** The document in which a script was to run is gone: the page has navigated. */
export class DocumentGone extends Error {
  override readonly name = "DocumentGone";
}

/** The page did not let a script run in time. */
export class PageBusy extends Error {
  override readonly name = "PageBusy";
}

// deno-lint-ignore no-explicit-any -- arguments are sent as JSON
type PageScript = (...args: any[]) => unknown;

/** Options for running a script in the page. */
export interface PageRun {
  /** The functions that the script calls. */
  readonly using?: readonly PageScript[];
  readonly msMax?: number;
}

const WORLD = "footfall";

/**
 * Runs scripts in a page, in an isolated world: they share the document with the page's scripts but no objects,
 * so that a page cannot replace functions that they use, such as `querySelector`.
 */
export class PageSession {
  private constructor(readonly cdp: CDPSession, readonly frameId: string) {}

  static async open(page: Page): Promise<PageSession> {
    const cdp = await page.createCDPSession();
    await Promise.all([cdp.send("Page.enable"), cdp.send("Runtime.enable")]);
    const { frameTree } = await cdp.send("Page.getFrameTree");
    return new PageSession(cdp, frameTree.frame.id);
  }

  /** Returns the frames of the page, its main frame first. */
  async frames(): Promise<Protocol.Page.Frame[]> {
    const { frameTree } = await this.cdp.send("Page.getFrameTree");
    const all = (tree: Protocol.Page.FrameTree): Protocol.Page.Frame[] => [
      tree.frame,
      ...(tree.childFrames ?? []).flatMap(all),
    ];
    return all(frameTree);
  }

  /** Returns the id of the isolated world in a frame. */
  async world(frameId = this.frameId, msMax = CAPTURE_CALL_MS_MAX): Promise<number> {
    const { executionContextId } = await this.cdp.send(
      "Page.createIsolatedWorld",
      { frameId, worldName: WORLD, grantUniveralAccess: false },
      { timeout: Math.max(1, msMax) },
    );
    return executionContextId;
  }

  /**
   * Runs `script` in the main frame, and returns its result. It is sent as text, so it may only use its
   * parameters, the globals of every page, and the functions in `using`, by the names that they have there.
   * Throws DocumentGone, PageBusy, and Error for what the script throws.
   */
  async run<Args extends unknown[], Result>(
    script: (...args: Args) => Result | Promise<Result>,
    args: Args,
    { using = [], msMax = CAPTURE_CALL_MS_MAX }: PageRun = {},
  ): Promise<Result> {
    const named = using.map((one) => `const ${one.name} = ${one};`).join("\n");
    const expression = `(() => { ${named}\nreturn (${script})(...${JSON.stringify(args)}); })()`;
    try {
      const contextId = await this.world(this.frameId, msMax);
      const { result, exceptionDetails } = await this.cdp.send(
        "Runtime.evaluate",
        { expression, contextId, awaitPromise: true, returnByValue: true },
        { timeout: Math.max(1, msMax) },
      );
      if (exceptionDetails !== undefined) {
        throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      }
      return result.value;
    } catch (error) {
      throw classified(error);
    }
  }

  async close(): Promise<void> {
    await this.cdp.detach().catch(() => {});
  }
}

/** Returns a failure of the protocol as an error of this file, by its message, which is all that it has. */
function classified(error: unknown): unknown {
  const message = error instanceof Error ? error.message : String(error);
  if (/timed out/i.test(message)) return new PageBusy(message, { cause: error });
  const isGone = /context.*(?:destroyed|not found|with specified id)|navigated or closed|No frame/i;
  if (isGone.test(message)) return new DocumentGone(message, { cause: error });
  return error;
}
