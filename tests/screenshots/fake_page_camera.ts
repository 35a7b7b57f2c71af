import { verdict } from "../../src/screenshots/capture_status.ts";
import type {
  PageCamera,
  Screenshot,
  ScreenshotRequest,
  ScreenshotResult,
} from "../../src/screenshots/browser/page_screenshot.ts";

/** A picture whose bytes are the text. */
export function screenshotOf(text: string, members: Partial<Screenshot> = {}): Screenshot {
  return {
    bytes: new TextEncoder().encode(text),
    contentType: "image/jpeg",
    widthPx: 1440,
    heightPx: 900,
    isCut: false,
    ...members,
  };
}

export function captured(text: string): ScreenshotResult {
  return { verdict: verdict("captured", "The page was captured."), screenshot: screenshotOf(text) };
}

export function failed(verdict: ScreenshotResult["verdict"]): ScreenshotResult {
  return { verdict: verdict, screenshot: null };
}

/** Answers as the test wants, and remembers what it was asked. */
export class FakePageCamera implements PageCamera {
  readonly requests: ScreenshotRequest[] = [];
  closings = 0;
  atOnce = 0;

  constructor(
    public answer: (request: ScreenshotRequest) => ScreenshotResult | Promise<ScreenshotResult>,
  ) {}

  /** What was asked for, as `path device`, in order. */
  get pages(): string[] {
    return this.requests.map(({ path, device }) => `${path} ${device}`);
  }

  async takeScreenshot(request: ScreenshotRequest): Promise<ScreenshotResult> {
    this.requests.push(request);
    this.atOnce++;
    try {
      return await this.answer(request);
    } finally {
      this.atOnce--;
    }
  }

  close(): Promise<void> {
    this.closings++;
    return Promise.resolve();
  }
}
