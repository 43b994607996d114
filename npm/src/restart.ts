const shortest = 1_000
const longest = 30_000
const goodMinute = 60_000

/** How long to wait before each restart: 1 s, doubling to 30 s, and 1 s again after a process that lived for a minute. */
export class Backoff {
  #next = shortest

  /** The delay after a process that lived for so long; 0 for one that never came up. */
  delayAfter(lived: number): number {
    if (lived >= goodMinute) this.#next = shortest
    const delay = this.#next
    this.#next = Math.min(delay * 2, longest)
    return delay
  }
}

/** The exit status of a sidecar that speaks another version of the protocol: it would end the same way again. */
export const exitWrongVersion = 3

const busyFirst = 10
const busyLongest = 500

/** For how long a call is made again that the sidecar was too busy for. */
export const busyPatience = 60_000

/** How long to wait before the n-th repetition of such a call: longer each time, and never all calls at once. */
export function busyDelay(n: number): number {
  const most = Math.min(busyFirst * 2 ** Math.min(n, 10), busyLongest)
  return most / 2 + (Math.random() * most) / 2
}
