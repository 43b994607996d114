import type { Bridge, HostEvent, Reply } from '../bridge.js'
import { failed } from '../failed.js'
import { bridgeOver, type Method } from '../methods.js'

/** The page's side of the Node host: the same bridge that the preload script gives in Electron. */
export function connect(): Bridge {
  const headers = { 'Authorization': `Bearer ${takeToken()}`, 'Content-Type': 'application/json' }
  const post: Post = (path, body, signal) => fetch(path, { method: 'POST', headers, body, ...(signal && { signal }) })
  return bridgeOver((method, parameters) => call(post, method, parameters), (listener) => listen(post, listener))
}

type Post = (path: string, body: string, signal?: AbortSignal) => Promise<Response>

const keptAs = 'token'

/** The token of this run, out of the address, where it stays no longer than needed: an address is shown, copied and remembered. */
function takeToken(): string {
  const given = new URLSearchParams(location.hash.slice(1)).get('token')
  if (given !== null) {
    sessionStorage.setItem(keptAs, given)
    history.replaceState(null, '', location.pathname)
  }
  return sessionStorage.getItem(keptAs) ?? ''
}

async function call(post: Post, method: Method, parameters: unknown[]): Promise<Reply<unknown>> {
  try {
    const answer = await post('/api/call', JSON.stringify({ method, parameters }))
    if (answer.ok) return (await answer.json()) as Reply<unknown>
    return refused(answer.status)
  } catch {
    return unreachable()
  }
}

/**
 * Listens until it is told to stop, and begins anew where the stream breaks off. A page that is hidden does not listen: a browser has six
 * connections to a server for all its pages together, and a stream takes one for as long as it lasts.
 */
function listen(post: Post, listener: (event: HostEvent) => void): () => void {
  const ended = new AbortController()
  void (async () => {
    for (;;) {
      await shown()
      if (ended.signal.aborted) return
      const hidden = new AbortController()
      const hide = () => document.hidden && hidden.abort()
      document.addEventListener('visibilitychange', hide)
      await readEvents(post, listener, AbortSignal.any([ended.signal, hidden.signal])).catch(() => {})
      document.removeEventListener('visibilitychange', hide)
      if (hidden.signal.aborted) continue
      if (ended.signal.aborted) return
      listener({ kind: 'sidecar', state: 'restarting', sentence: unreachable().failure.sentence })
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
  })()
  return () => ended.abort()
}

/** Resolves as soon as the page is seen. */
const shown = () => new Promise<void>((resolve) => {
  const look = () => {
    if (document.hidden) return
    document.removeEventListener('visibilitychange', look)
    resolve()
  }
  document.addEventListener('visibilitychange', look)
  look()
})

async function readEvents(post: Post, listener: (event: HostEvent) => void, signal: AbortSignal): Promise<void> {
  const answer = await post('/api/events', '', signal)
  if (!answer.ok || answer.body === null) return
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const lines = (rest + value).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line !== '') listener(JSON.parse(line) as HostEvent)
  }
}

const unreachable = () => failed({ reason: 'host_unreachable', sentence: 'The program behind this page has ended. Start it again.', retryable: true })

const refused = (status: number) => failed({
  reason: 'host_refused',
  sentence: 'This page may not ask for that. Open the address that the program printed.',
  retryable: false,
  detail: `status ${status}`,
})
