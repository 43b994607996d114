import { app, type Session, type WebFrameMain } from 'electron'
import { address, origin } from './scheme.js'

/** Whether a message comes from our page, in the window's own frame. A frame that navigated away meanwhile is null. */
export const isOurs = (frame: WebFrameMain | null): boolean => frame !== null && frame.parent === null && frame.origin === origin

/** No page of this session gets a permission, a device or a download, or loads what is not ours. */
export function guardSession(session: Session): void {
  session.setPermissionRequestHandler((_contents, _permission, answer) => answer(false))
  session.setPermissionCheckHandler(() => false)
  session.setDevicePermissionHandler(() => false)
  session.setDisplayMediaRequestHandler((_request, answer) => answer(null))
  session.setSpellCheckerEnabled(false) // it would fetch its dictionaries
  session.on('will-download', (event) => event.preventDefault())
  session.webRequest.onBeforeRequest(({ url }, answer) => {
    answer({ cancel: !url.startsWith(address) && !(url.startsWith('devtools://') && !app.isPackaged) })
  })
}

/** No page goes anywhere, opens a window or holds another page, whoever made its contents. */
export function guardContents(): void {
  app.on('web-contents-created', (_event, contents) => {
    const stay = (event: { preventDefault(): void; url: string }) => {
      if (event.url !== address) event.preventDefault() // a reload is no navigation away
    }
    contents.on('will-navigate', stay)
    contents.on('will-frame-navigate', stay)
    contents.on('will-redirect', stay)
    contents.on('will-attach-webview', (event) => event.preventDefault())
    contents.setWindowOpenHandler(() => ({ action: 'deny' }))
  })
}
