import { BOT_BIT } from "../timelines/loaded_segment.ts";

/** Which events pass, by what timelines hold of them, as plain data: 1 at the place of each id. Null: all do. */
export interface EventPasses {
  readonly names: Uint8Array | null;
  /** Events without a path have that of id 0. */
  readonly paths: Uint8Array | null;
  /** The place of id c is `c - contextsFrom`. */
  readonly contexts: Uint8Array | null;
  readonly actors: Uint8Array | null;
  readonly contextsFrom: number;
  /** The largest id of a context. */
  readonly contextsTo: number;
  /** The first and the last id of contexts that `bots` lets through. */
  readonly contextMin: number;
  readonly contextMax: number;
  /** The largest id of a name or a path. */
  readonly termMax: number;
  /** By word, the bits that an event must have of filters on lazy columns: see `FilterBits`. */
  readonly bits: Int32Array;
}

/** Whether, bots apart, the name alone decides. */
export function isOfName({ paths, contexts, actors, bits }: EventPasses): boolean {
  return paths === null && contexts === null && actors === null && !bits.some((word) => word !== 0);
}

/** Tests events. */
export class EventTest {
  readonly names: Uint8Array | null;
  readonly paths: Uint8Array | null;
  readonly contexts: Uint8Array | null;
  readonly actors: Uint8Array | null;
  readonly contextsFrom: number;
  readonly contextMin: number;
  readonly contextMax: number;
  readonly termMax: number;
  /** Whether, bots apart, the name alone decides. */
  readonly isOfName: boolean;
  /** Whether nothing that lies in lazy columns decides. */
  readonly isKnown: boolean;
  /** The filter bits that an event must have. */
  readonly #filterBits: number;
  /** Of many filters the words of all events, where filter bits are places of words; null where they are bits. */
  readonly #words: readonly Int32Array[] | null;
  readonly #wanted: Int32Array;

  /** `words`: of the part that is visited. */
  constructor(passes: EventPasses, words: readonly Int32Array[]) {
    const { bits } = passes;
    this.names = passes.names;
    this.paths = passes.paths;
    this.contexts = passes.contexts;
    this.actors = passes.actors;
    this.contextsFrom = passes.contextsFrom;
    this.contextMin = passes.contextMin;
    this.contextMax = passes.contextMax;
    this.termMax = passes.termMax;
    this.isOfName = isOfName(passes);
    this.isKnown = !bits.some((word) => word !== 0);
    this.#filterBits = bits.length > 1 ? 0 : bits[0]!;
    this.#words = bits.length > 1 && !this.isKnown ? words : null;
    this.#wanted = bits;
  }

  /** Whether an event of this name, path (0: none), context, actor and filter bits passes. */
  passes(name: number, path: number, context: number, actor: number, eventBits: number): boolean {
    return (this.names === null || this.names[name] === 1) &&
      this.passesBeyondName(path, context, actor, eventBits);
  }

  /** The same of an event whose name is known to pass. */
  passesBeyondName(path: number, context: number, actor: number, eventBits: number): boolean {
    return context >= this.contextMin && context <= this.contextMax &&
      (eventBits & this.#filterBits) === this.#filterBits &&
      (this.#words === null || this.#passesWords(eventBits)) &&
      (this.paths === null || this.paths[path] === 1) &&
      (this.contexts === null || this.contexts[context - this.contextsFrom] === 1) &&
      (this.actors === null || this.actors[actor] === 1);
  }

  /** Whether an event of a run may fail for being a bot's, or none: see `nameBits` of runs. */
  mayFailByBots(nameBits: number): boolean {
    if (this.contextMax < 0) return true;
    return this.contextMin === 0 && (nameBits & BOT_BIT) !== 0;
  }

  #passesWords(place: number): boolean {
    const wanted = this.#wanted;
    for (let word = 0; word < wanted.length; word++) {
      if ((this.#words![word]![place]! & wanted[word]!) !== wanted[word]) return false;
    }
    return true;
  }
}
