import { protocol, type Session } from 'electron'
import { headers, type PageFile } from '../host/page.js'

const scheme = 'app'

/** The page's own origin. It is no file: a page from file:// could read others. */
export const origin = `${scheme}://sidecar`
export const address = `${origin}/`

/** Before the app is ready: an address of ours is an origin of its own, as https is, so that policies and IPC can go by it. */
export function registerScheme(): void {
  protocol.registerSchemesAsPrivileged([{ scheme, privileges: { standard: true, secure: true, supportFetchAPI: true } }])
}

/** Serves the built page, and nothing else, to a session. */
export function servePage(session: Session, page: ReadonlyMap<string, PageFile>): void {
  session.protocol.handle(scheme, ({ url, method }) => {
    const { protocol, host, pathname } = new URL(url)
    const file = method === 'GET' && `${protocol}//${host}` === origin ? page.get(pathname) : undefined
    return file
      ? new Response(new Uint8Array(file.body), { headers: { ...headers, 'Content-Type': file.type } })
      : new Response(null, { status: 404, headers })
  })
}
