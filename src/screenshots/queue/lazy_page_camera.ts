import type { Photographer } from "../browser/photograph.ts";
import type { PhotographerOptions } from "../browser/photographer.ts";

/** A photographer that is loaded with the first picture: the browser's library takes 55 ms and 23 MB. */
export function createLatePhotographer(options: PhotographerOptions): Photographer {
  let made: Promise<Photographer> | null = null;
  const make = async () => {
    const { createPhotographer } = await import("../browser/photographer.ts");
    return createPhotographer(options);
  };
  return {
    photograph: async (request) => await (await (made ??= make())).photograph(request),
    close: async () => await (await made)?.close(),
  };
}
