import { guarded } from './call.js'
import type { SidecarEvents } from './types.js'

type Listener = (value: never) => void

/** Who listens to what. */
export class Listeners {
  readonly #byName = new Map<string, Set<Listener>>()

  /** Adds a listener; what it gives removes it. */
  on<N extends keyof SidecarEvents>(name: N, listener: (value: SidecarEvents[N]) => void): () => void {
    const listeners = this.#byName.get(name) ?? new Set()
    this.#byName.set(name, listeners.add(listener))
    return () => void listeners.delete(listener)
  }

  tell<N extends keyof SidecarEvents>(name: N, value: SidecarEvents[N]): void {
    for (const listener of [...(this.#byName.get(name) ?? [])]) guarded(listener as (value: SidecarEvents[N]) => void, value)
  }
}
