import type { Clock } from './types.js'

/** The system's clock, one that no change of the date moves. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms)
    return {
      cancel: () => clearTimeout(timer),
      hold: (held) => void (held ? timer.ref() : timer.unref()),
    }
  },
}
