import { guarded } from './listeners.js'
import type { Call, Progress } from './types.js'

/** The progress of one call, on its way to whoever wants it. */
export class ProgressFeed {
  readonly #callback: ((progress: Progress) => void) | undefined
  readonly #readers = new Set<Reader>()

  constructor(callback: ((progress: Progress) => void) | undefined) {
    this.#callback = callback
  }

  push(progress: Progress): void {
    if (this.#callback) guarded(this.#callback, progress)
    for (const reader of this.#readers) reader.push(progress)
  }

  /** Gives the progress from now on, until the call is over. */
  async* read(call: Promise<unknown>): AsyncGenerator<Progress, void, undefined> {
    const reader = new Reader()
    this.#readers.add(reader)
    // A reader learns of a failure by its own throw, once it has read what came before.
    call.then(() => reader.end(), () => reader.end())
    try {
      for (;;) {
        const progress = await reader.next()
        if (progress === undefined) break
        yield progress
      }
      await call
    } finally {
      this.#readers.delete(reader)
    }
  }
}

class Reader {
  readonly #kept: Progress[] = []
  #ended = false
  #wake = () => {}

  push(progress: Progress): void {
    this.#kept.push(progress)
    this.#wake()
  }

  end(): void {
    this.#ended = true
    this.#wake()
  }

  async next(): Promise<Progress | undefined> {
    while (this.#kept.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => { this.#wake = resolve })
    }
    return this.#kept.shift()
  }
}

/** A promise with its progress. */
export function callOf<R, P extends Progress>(result: Promise<R>, feed: ProgressFeed): Call<R, P> {
  return Object.assign(result, { [Symbol.asyncIterator]: () => feed.read(result) as AsyncGenerator<P> })
}
