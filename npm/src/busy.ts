const firstDelay = 10
const longestDelay = 500

/** For how long a call is made again that the sidecar was too busy for. */
export const busyPatience = 60_000

/** How long to wait before the n-th repetition of such a call, from 0: longer each time, and never all calls at once. */
export function busyDelay(n: number): number {
  const most = Math.min(firstDelay * 2 ** Math.min(n, 10), longestDelay)
  return most / 2 + (Math.random() * most) / 2
}
