import type { SidecarEvents } from './types.js'

type Listener = (value: never) => void

/** The app's listeners, by the name of what they listen to. */
export class Listeners {
  readonly #byName = new Map<string, Set<Listener>>()

  /** Adds a listener; what it gives removes it. */
  on<N extends keyof SidecarEvents>(name: N, listener: (value: SidecarEvents[N]) => void): () => void {
    const listeners = this.#byName.get(name) ?? new Set()
    this.#byName.set(name, listeners.add(listener))
    return () => void listeners.delete(listener)
  }

  /** Calls those that listen to this now; one that leaves or comes meanwhile changes nothing. */
  tell<N extends keyof SidecarEvents>(name: N, value: SidecarEvents[N]): void {
    for (const listener of [...(this.#byName.get(name) ?? [])]) guarded(listener as (value: SidecarEvents[N]) => void, value)
  }
}

/** Calls the app's code so that what it throws is the app's own uncaught error, and no frame is lost by it. */
export function guarded<T>(listener: (value: T) => void, value: T): void {
  try {
    listener(value)
  } catch (error) {
    queueMicrotask(() => { throw error })
  }
}
