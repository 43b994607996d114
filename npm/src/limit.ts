import { SidecarError } from './errors.js'
import { onAbort } from './abort.js'
import type { CallOptions } from './types.js'

/** The longest time that a timer takes, in milliseconds: more than three weeks. What is longer sets no limit. */
const longestTimer = 2 ** 31 - 1

/** Throws where a time limit is no number of milliseconds. */
export function requireTimeout(timeout: number | undefined): void {
  if (timeout === undefined || (typeof timeout === 'number' && timeout >= 0)) return
  throw new TypeError(`timeout has to be a number of milliseconds, not ${String(timeout)}`)
}

/** What may end a call early: its caller's signal, or its time. It is reached at most once. */
export class Limit {
  /** Why the call has to end; undefined until then. */
  error: SidecarError | undefined
  readonly #waiting = new Set<() => void>()
  readonly #timer: NodeJS.Timeout | undefined
  readonly #forgetSignal: (() => void) | undefined

  constructor(method: string, { signal, timeout }: Pick<CallOptions, 'signal' | 'timeout'>) {
    requireTimeout(timeout)
    if (signal) this.#forgetSignal = onAbort(signal, () => this.#reach(cancelled(method, signal.reason)))
    if (timeout !== undefined && timeout <= longestTimer) {
      this.#timer = setTimeout(() => this.#reach(timedOut(method, timeout)), timeout)
    }
  }

  /** Calls back when the limit is reached; what it gives takes that back. */
  onReached(callback: () => void): () => void {
    this.#waiting.add(callback)
    return () => this.#waiting.delete(callback)
  }

  /** Waits for something, but not beyond the limit. */
  async within<T>(promise: Promise<T>): Promise<T> {
    if (this.error) throw this.error
    let forget = () => {}
    const reached = new Promise<never>((_, reject) => { forget = this.onReached(() => reject(this.error)) })
    return Promise.race([promise, reached]).finally(forget)
  }

  /** The call is over: nothing of the limit stays behind. */
  end(): void {
    clearTimeout(this.#timer)
    this.#forgetSignal?.()
    this.#waiting.clear()
  }

  #reach(error: SidecarError): void {
    if (this.error) return
    this.error = error
    for (const callback of [...this.#waiting]) callback()
  }
}

const cancelled = (method: string, cause: unknown) => new SidecarError('cancelled', `${method} was cancelled`, { cause })

const timedOut = (method: string, timeout: number) => new SidecarError('timed_out', `${method} took longer than ${timeout} ms`)
