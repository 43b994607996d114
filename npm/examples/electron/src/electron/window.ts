import { app, BrowserWindow, dialog, nativeTheme, screen, type Rectangle } from 'electron'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Crashes } from './crashes.js'
import { address } from './scheme.js'

type Place = { readonly bounds?: Rectangle; readonly maximized?: boolean }

/** Opens the window where it was when it was closed last. */
export function openWindow(): BrowserWindow {
  const { bounds, maximized } = readPlace()
  const window = new BrowserWindow({
    width: 1180,
    height: 760,
    ...(bounds && isOnScreen(bounds) && bounds),
    minWidth: 640,
    minHeight: 480,
    show: false, // until it has something to show
    backgroundColor: nativeTheme.shouldUseDarkColors ? '#1b1b1f' : '#ffffff',
    webPreferences: {
      preload: fileURLToPath(new URL('preload.cjs', import.meta.url)),
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      webSecurity: true,
      webviewTag: false,
      spellcheck: false,
      devTools: !app.isPackaged,
    },
  })
  if (maximized) window.maximize()
  window.once('ready-to-show', () => window.show())
  window.on('close', () => writePlace({ bounds: window.getNormalBounds(), maximized: window.isMaximized() }))
  loadAgainAfterCrash(window)
  void window.loadURL(address)
  return window
}

/** A page whose process has ended leaves the window blank until it is loaded anew. */
function loadAgainAfterCrash(window: BrowserWindow): void {
  const crashes = new Crashes()
  window.webContents.on('render-process-gone', async (_event, { reason }) => {
    process.stderr.write(`page: its process has ended (${reason})\n`)
    if (reason === 'clean-exit' || window.isDestroyed()) return
    if (crashes.next(performance.now()) === 'tell') {
      const { response } = await dialog.showMessageBox(window, {
        type: 'error',
        message: 'This window has stopped working, and did so again.',
        detail: 'A delete that was under way is finished or not begun, never half done. A delete of many has stopped between two.',
        buttons: ['Load it again', 'Quit'],
        defaultId: 0,
      })
      if (response === 1) return app.quit()
    }
    if (!window.isDestroyed()) window.webContents.reload()
  })
}

const placeFile = () => join(app.getPath('userData'), 'window.json')

/** A file that is not there, or that somebody has put something else in, is no place. */
function readPlace(): Place {
  try {
    const { bounds, maximized } = JSON.parse(readFileSync(placeFile(), 'utf8')) as { bounds?: Record<string, unknown>; maximized?: unknown }
    const { x, y, width, height } = bounds ?? {}
    const whole = [x, y, width, height].every((number) => Number.isSafeInteger(number))
    return { maximized: maximized === true, ...(whole && { bounds: { x, y, width, height } as Rectangle }) }
  } catch {
    return {}
  }
}

function writePlace(place: Place): void {
  try {
    writeFileSync(placeFile(), JSON.stringify(place))
  } catch {
    // The window opens in the middle next time: nothing that a user has to be told.
  }
}

/** Whether enough of a window would be seen to take hold of it: a screen may be gone since. */
function isOnScreen(bounds: Rectangle): boolean {
  const { workArea } = screen.getDisplayMatching(bounds)
  const width = Math.min(bounds.x + bounds.width, workArea.x + workArea.width) - Math.max(bounds.x, workArea.x)
  const height = Math.min(bounds.y + bounds.height, workArea.y + workArea.height) - Math.max(bounds.y, workArea.y)
  return width >= 200 && height >= 100 && bounds.y >= workArea.y
}
