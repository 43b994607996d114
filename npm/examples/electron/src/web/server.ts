import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Bridge } from '../bridge.js'
import { invoke, type WhenGone } from '../host/invoke.js'
import { headers, type PageFile } from '../host/page.js'

/** How long a call may be: the sidecar takes lines of 8 MiB. */
const longestBody = 8 << 20

/** How often an idle stream of events says that it is there: a page whose host is gone without a word has to learn of it. */
const heartbeat = 15_000

export type Server = {
  readonly origin: string
  /** What the page has to be opened with: it carries the token where no server, log or Referer sees it. */
  readonly url: string
  close(): Promise<void>
}

/**
 * Serves the page and its calls, on the loopback interface alone, at a port that the system picks.
 *
 * Any page that is open in a browser on this machine can send requests here, and so can any program of any user. What keeps them from
 * deleting anything: a token, made for this run, that only the page we gave its address to has; the Origin, which no page can forge; and
 * the Host, which names another server where a foreign name was made to lead here (DNS rebinding).
 */
export async function serve(bridge: Bridge, page: ReadonlyMap<string, PageFile>, log: (line: string) => void = () => {}): Promise<Server> {
  const token = randomBytes(32).toString('base64url')
  const streams = new Set<ServerResponse>()
  let origin = ''

  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000, maxHeaderSize: 16 << 10 }, (request, response) => {
    answer(request, response).catch((error) => {
      log(`bug: ${error instanceof Error ? error.stack : String(error)}`)
      if (!response.headersSent) end(response, 500)
      else response.destroy()
    })
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    if (`http://${request.headers.host}` !== origin) return end(response, 421)
    if (!URL.canParse(request.url ?? '/', origin)) return end(response, 400)
    const { pathname } = new URL(request.url ?? '/', origin)
    const ours = pathname === '/api/call' ? call : pathname === '/api/events' ? events : undefined
    if (ours === undefined) return send(request, response, page.get(pathname))
    if (request.method !== 'POST') return end(response, 405)
    if (request.headers.origin !== origin || !isToken(request.headers.authorization)) return end(response, 403)
    return ours(request, response)
  }

  /** One call. Its answer is a Reply, also where it failed; a status other than 200 comes from here. */
  async function call(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers['content-type'] !== 'application/json') return end(response, 415)
    const body = await bodyOf(request)
    if (body === undefined) return end(response, 413)
    let asked: unknown
    try {
      asked = JSON.parse(body)
    } catch {
      return end(response, 400)
    }
    const { method, parameters } = (asked ?? {}) as { method?: unknown; parameters?: unknown }
    const whenGone: WhenGone = (leave) => {
      response.once('close', leave)
      return () => void response.off('close', leave)
    }
    end(response, 200, JSON.stringify(await invoke(bridge, method, parameters, whenGone)), 'application/json')
  }

  /** What the host tells unasked: a line of JSON each, for as long as the page reads. */
  async function events(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume()
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson' })
    streams.add(response)
    const stopListening = bridge.listen((event) => void response.write(`${JSON.stringify(event)}\n`))
    const beat = setInterval(() => void response.write('\n'), heartbeat)
    response.once('close', () => {
      clearInterval(beat)
      stopListening()
      streams.delete(response)
    })
  }

  /** Compares digests, in a time that says nothing of how much of it was right. */
  function isToken(given: string | undefined): boolean {
    const digest = (text: string) => createHash('sha256').update(text).digest()
    return timingSafeEqual(digest(given ?? ''), digest(`Bearer ${token}`))
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    url: `${origin}/#token=${token}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const stream of streams) stream.end()
      server.closeIdleConnections()
      await closed
    },
  }
}

function send(request: IncomingMessage, response: ServerResponse, file: PageFile | undefined): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') return end(response, 405)
  if (file === undefined) return end(response, 404)
  end(response, 200, request.method === 'HEAD' ? '' : file.body, file.type)
}

function end(response: ServerResponse, status: number, body: string | Buffer = '', type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'Content-Type': type }).end(body)
  // What is left of a body that nobody wants is not read: the connection goes with it.
  if (status >= 400) response.shouldKeepAlive = false
}

/** The body as text; undefined where it is longer than any call. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of request) {
    length += (piece as Buffer).length
    if (length > longestBody) return undefined
    pieces.push(piece as Buffer)
  }
  return Buffer.concat(pieces).toString('utf8')
}
