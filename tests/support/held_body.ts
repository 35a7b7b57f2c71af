/** The body of a request, held before its last byte: by then the request is allowed, and its body is read. */
export class HeldBody {
  readonly #begun = Promise.withResolvers<void>();
  readonly #over = Promise.withResolvers<void>();
  readonly stream: ReadableStream<Uint8Array>;

  constructor(bytes: Uint8Array) {
    const parts = [bytes.subarray(0, -1), bytes.subarray(-1)];
    this.stream = new ReadableStream({
      // Called as the server asks for more: for the last byte once it has taken the rest.
      pull: async (controller) => {
        if (parts.length > 1) return controller.enqueue(parts.shift()!);
        this.#begun.resolve();
        await this.#over.promise;
        controller.enqueue(parts.shift()!);
        controller.close();
      },
    }, { highWaterMark: 0 });
  }

  /** Resolves once the server has taken all but the last byte. */
  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  end(): void {
    this.#over.resolve();
  }
}
