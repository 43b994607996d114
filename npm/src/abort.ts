type Waiting = { readonly callbacks: Set<() => void>; readonly listener: () => void }

const waitingFor = new WeakMap<AbortSignal, Waiting>()

/**
 * Calls back when a signal aborts, at once where it has; what it gives takes that back. However many wait for one signal, it has one
 * listener: Node warns of more than ten.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback()
    return () => {}
  }
  const { callbacks, listener } = waitingFor.get(signal) ?? listen(signal)
  callbacks.add(callback)
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return
    waitingFor.delete(signal)
    signal.removeEventListener('abort', listener)
  }
}

function listen(signal: AbortSignal): Waiting {
  const callbacks = new Set<() => void>()
  const waiting = { callbacks, listener: () => [...callbacks].forEach((callback) => callback()) }
  waitingFor.set(signal, waiting)
  signal.addEventListener('abort', waiting.listener, { once: true })
  return waiting
}
