import { verdict } from "../../src/screenshots/capture_status.ts";
import type {
  Photograph,
  Photographer,
  PhotographRequest,
  Shot,
} from "../../src/screenshots/browser/photograph.ts";

/** A picture whose bytes are the text. */
export function shotOf(text: string, members: Partial<Shot> = {}): Shot {
  return {
    bytes: new TextEncoder().encode(text),
    contentType: "image/jpeg",
    widthPx: 1440,
    heightPx: 900,
    isCut: false,
    ...members,
  };
}

export function captured(text: string): Photograph {
  return { verdict: verdict("captured", "The page was captured."), shot: shotOf(text) };
}

export function failed(photograph: Photograph["verdict"]): Photograph {
  return { verdict: photograph, shot: null };
}

/** Answers as the test wants, and remembers what it was asked. */
export class FakePhotographer implements Photographer {
  readonly asked: PhotographRequest[] = [];
  closings = 0;
  atOnce = 0;

  constructor(
    public answer: (request: PhotographRequest) => Photograph | Promise<Photograph>,
  ) {}

  /** What was asked for, as `path device`, in order. */
  get pages(): string[] {
    return this.asked.map(({ path, device }) => `${path} ${device}`);
  }

  async photograph(request: PhotographRequest): Promise<Photograph> {
    this.asked.push(request);
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
