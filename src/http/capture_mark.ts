/**
 * The `DNT` header of the browser that takes captures: do not track, with an extension, which that header may
 * have, by which the server recognises captures. A header of another name would need a CORS preflight, which
 * the origins of a page's fonts and scripts refuse.
 */
export const CAPTURE_MARK = "1footfall-capture";

/** Whether a request comes from the browser that takes captures. */
export const isOfCapture = (headers: Headers): boolean => headers.get("dnt") === CAPTURE_MARK;
