const shortestDelay = 1_000
const longestDelay = 30_000

/** A process that lived for so long was a good one: the delays begin anew after it. */
const goodLife = 60_000

/** How long to wait before each restart: 1 s, doubling to 30 s, and 1 s again after a process that lived for a minute. */
export class Backoff {
  #next = shortestDelay

  /** The delay after a process that lived for so long; 0 for one that never came up. */
  delayAfter(lived: number): number {
    if (lived >= goodLife) this.#next = shortestDelay
    const delay = this.#next
    this.#next = Math.min(delay * 2, longestDelay)
    return delay
  }
}
