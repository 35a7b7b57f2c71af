/** The client closed the connection, so no reply can reach it. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}
