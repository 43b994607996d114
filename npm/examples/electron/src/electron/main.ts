import { app, BrowserWindow, dialog, session } from 'electron'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Host } from '../host/host.js'
import { readPage } from '../host/page.js'
import { settingsOf } from '../host/profiles.js'
import { guardContents, guardSession } from './guard.js'
import { answerCalls, tellEvents } from './ipc.js'
import { setMenu } from './menu.js'
import { registerScheme, servePage } from './scheme.js'
import { openWindow } from './window.js'

registerScheme()
app.enableSandbox() // every renderer, whatever a window says
guardContents()

// A second start shows the first one's window: two apps over one history would each show what the other has deleted.
if (app.requestSingleInstanceLock()) run().catch(giveUp)
else app.quit()

async function run(): Promise<void> {
  const host = new Host({ ...settingsOf(process.argv.slice(1), process.env), where: askWhere, log: (line) => void process.stderr.write(`${line}\n`) })
  endInOrder(host)
  answerCalls(host)
  tellEvents(host)
  app.on('second-instance', () => {
    const [window] = BrowserWindow.getAllWindows()
    if (window?.isMinimized()) window.restore()
    window?.focus()
  })
  app.on('window-all-closed', () => app.quit())
  await app.whenReady()
  guardSession(session.defaultSession)
  servePage(session.defaultSession, readPage(fileURLToPath(new URL('../page', import.meta.url))))
  setMenu()
  openWindow()
}

/** A start that fails is told, not left as an app without a window. */
function giveUp(error: unknown): void {
  dialog.showErrorBox(app.name, error instanceof Error ? error.message : String(error))
  app.exit(1)
}

/** Waits for the sidecar's end before the app's own, so that what it has begun is finished. It takes eight seconds at most. */
function endInOrder(host: Host): void {
  let closed = false
  let closing: Promise<void> | undefined
  app.on('before-quit', (event) => {
    if (closed) return
    event.preventDefault()
    closing ??= host.close().finally(() => {
      closed = true
      app.quit()
    })
  })
}

/** The system's own dialog, in front of the window that asks. */
async function askWhere(suggestedName: string): Promise<string | undefined> {
  const options: Electron.SaveDialogOptions = {
    defaultPath: join(app.getPath('documents'), suggestedName),
    filters: [{ name: 'JSON', extensions: ['json'] }],
    properties: ['createDirectory', 'showOverwriteConfirmation'],
  }
  const [window] = BrowserWindow.getAllWindows()
  const { canceled, filePath } = await (window ? dialog.showSaveDialog(window, options) : dialog.showSaveDialog(options))
  return canceled || filePath === '' ? undefined : filePath
}
