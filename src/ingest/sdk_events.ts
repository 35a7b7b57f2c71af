import { z } from "zod";

const pixels = (description: string) => z.int().min(0).meta({ description });
const viewport = {
  viewportWidth: pixels("Width of the window, CSS pixels; decides the heatmap's device"),
  viewportHeight: pixels("Height of the window, CSS pixels"),
};
const documentHeight = pixels("Height of the whole document, CSS pixels");

/** The `properties` of the SDK's `click`, for the OpenAPI document; not enforced. */
export const ClickProperties = z.object({
  x: z.number().min(0).max(1).meta({ description: "Across the document's width: 0 left, 1 right" }),
  y: pixels("From the document's top; for a fixed target from the window's top, CSS pixels"),
  fixed: z.boolean().meta({ description: "The target keeps its place while the page scrolls" }),
  rage: z.boolean().meta({ description: "One of 3 or more clicks within 1 s and 30 px" }),
  dead: z.boolean().meta({
    description: "Nothing changed for 1 s: DOM, URL, scroll position, focus, selection",
  }),
  selector: z.string().max(200).meta({ description: "CSS selector of the target; holds no text" }),
  ...viewport,
  documentWidth: pixels("Width of the whole document, CSS pixels"),
  documentHeight,
}).meta({ description: "`properties` of an event named `click`" });

/** The `properties` of the SDK's `scroll`, which is sent once per page view, when it ends; not enforced. */
export const ScrollProperties = z.object({
  depthPx: pixels("Deepest document pixel that was in the window"),
  ...viewport,
  documentHeight,
}).meta({ description: "`properties` of an event named `scroll`, sent once per page view" });
