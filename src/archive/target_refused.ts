/** Thrown if nothing can be moved to a database. The message says why. */
export class TargetRefused extends Error {
  override readonly name = "TargetRefused";
}
