import type { Answer, Connection } from './connection.js'
import { SidecarError } from './errors.js'
import type { Limit } from './limit.js'
import type { ProgressFeed } from './progress.js'
import type { Clock } from './types.js'

/** For how long a cancelled call may still tell what became of it. The sidecar answers within a second; after this, nobody knows. */
const cancelPatience = 5_000

/** Sends a call, and cancels it when its limit is reached. A result that comes all the same counts: what it tells has happened. */
export function request(connection: Connection, clock: Clock, method: string, params: unknown, limit: Limit, feed: ProgressFeed): Promise<Answer> {
  return new Promise((resolve) => {
    let last: ReturnType<Clock['after']> | undefined
    const id = connection.request(method, params, {
      progress: (progress) => feed.push(progress),
      answered(answer) {
        last?.cancel()
        forget()
        const stopped = limit.error !== undefined && 'error' in answer && answer.error.reason === 'cancelled'
        resolve(stopped && limit.error!.reason === 'timed_out' ? { error: limit.error! } : answer)
      },
    })
    const forget = limit.onReached(() => {
      if (connection.withdraw(id)) return resolve({ error: limit.error! })
      connection.cancel(id)
      last = clock.after(cancelPatience, () => {
        connection.forget(id)
        resolve({ error: unanswered(limit.error!) })
      })
    })
  })
}

/** Why a call ends whose cancel was not answered: `cancelled` would say that nothing was done. */
const unanswered = (why: SidecarError) => new SidecarError(
  'timed_out', `${why.message}, and the sidecar did not answer within ${cancelPatience / 1000} s: whether it was done is not known`, { cause: why.cause },
)
