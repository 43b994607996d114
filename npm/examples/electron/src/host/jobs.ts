import { invalid } from './check.js'

/** What runs under names that the page gave, so that it can be cancelled by them. */
export class Jobs {
  readonly #running = new Map<string, AbortController>()

  /** Runs something under a name, which nothing else may have meanwhile: a cancel must not reach what it was not meant for. */
  async run<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#running.has(name)) throw invalid('job is the name of one that runs')
    const abort = new AbortController()
    this.#running.set(name, abort)
    try {
      return await work(abort.signal)
    } finally {
      this.#running.delete(name)
    }
  }

  /** What has ended already is left alone. */
  cancel(name: string): void {
    this.#running.get(name)?.abort()
  }

  cancelAll(): void {
    for (const abort of this.#running.values()) abort.abort()
  }
}
