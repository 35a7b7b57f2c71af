/**
 * What the browser that photographs pages says as `DNT`: that nobody is to be tracked and, as an extension, which that
 * header may have, that it is no visitor. For a header of another name a browser would ask other origins for
 * leave, which those of a page's fonts and scripts do not give.
 */
export const CAPTURE_MARK = "1footfall-capture";

/** Whether it is a request of the browser that photographs pages. */
export const isOfCapture = (headers: Headers): boolean => headers.get("dnt") === CAPTURE_MARK;
