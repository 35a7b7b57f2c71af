import type { PageCamera } from "../browser/page_screenshot.ts";
import type { PageCameraOptions } from "../browser/page_camera.ts";

/** Makes a page camera that is loaded with the first picture, as the browser's library takes 55 ms and 23 MB. */
export function createLazyPageCamera(options: PageCameraOptions): PageCamera {
  let made: Promise<PageCamera> | null = null;
  const make = async () => {
    const { createPageCamera } = await import("../browser/page_camera.ts");
    return createPageCamera(options);
  };
  return {
    takeScreenshot: async (request) => await (await (made ??= make())).takeScreenshot(request),
    close: async () => await (await made)?.close(),
  };
}
