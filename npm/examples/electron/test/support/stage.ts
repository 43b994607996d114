import { existsSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { _electron, chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest'
import { into } from '../../src/host/copies.js'
import { Host } from '../../src/host/host.js'
import { readPage } from '../../src/host/page.js'
import { serve } from '../../src/web/server.js'
import { binary, temporary, until } from './store.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Where the tests leave their pictures. */
export const pictures = fileURLToPath(new URL('../../../../../build/example', import.meta.url))

export type OpenOptions = { readonly dark?: boolean; readonly width?: number; readonly height?: number }

/** The app, open on some profiles, of which the first is shown. */
export type App = {
  readonly page: Page
  /** Where it saves copies. */
  readonly copies: string
  /** The process of its sidecar; undefined while there is none. */
  sidecar(): Promise<number | undefined>
}

/** One way to run the app: the same page, with another host behind it. */
export type Stage = { open(homes: string | readonly string[], options?: OpenOptions): Promise<App> }

/** The names of the profiles, in their order. */
const names = ['Mine', 'Work']

const electronBinary = process.env.ELECTRON_BIN
const chromiumBinary = [process.env.CHROMIUM, ...['chromium', 'google-chrome', 'chromium-browser'].map(found)].find((path) => path && existsSync(path))

function found(name: string): string | undefined {
  if (process.platform === 'win32') return undefined
  try {
    return execFileSync('/bin/sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}

/** Declares the same tests for a page in Chromium and for Electron, each where its program is there. */
export function onEachStage(tests: (stage: Stage) => void): void {
  describe.skipIf(chromiumBinary === undefined)('in a page', () => {
    const browser = launched()
    tests({ open: (homes, options) => openPage(browser(), [homes].flat(), options) })
  })
  describe.skipIf(electronBinary === undefined)('in Electron', () => tests({ open: (homes, options) => openElectron([homes].flat(), options) }))
}

/** Declares tests that need a browser beside the app. */
export function inBrowser(tests: (browser: () => Browser) => void): void {
  describe.skipIf(chromiumBinary === undefined)('in a page', () => tests(launched()))
}

function launched(): () => Browser {
  let browser: Browser
  beforeAll(async () => {
    // Without a graphics card Chromium would imitate one, which takes longer than to draw.
    const args = ['--disable-gpu', '--force-color-profile=srgb', '--font-render-hinting=none']
    browser = await chromium.launch({ executablePath: chromiumBinary!, args })
  })
  afterAll(() => browser?.close())
  return () => browser
}

/** Fails the test where the page throws, logs an error, or breaks its own policy. */
export function watchErrors(page: Page): string[] {
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  return errors
}

async function openPage(browser: Browser, homes: readonly string[], { dark = false, width = 1180, height = 760 }: OpenOptions = {}): Promise<App> {
  const copies = temporary()
  const host = new Host({ homes: homes.map((home, i) => ({ key: `profile-${i + 1}`, name: names[i]!, home })), binary, where: into(copies) })
  const server = await serve(host, readPage(join(root, 'dist/page')))
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce', locale: 'en-GB', timezoneId: 'UTC' })
  const page = await context.newPage()
  const errors = watchErrors(page)
  onTestFinished(async () => {
    await context.close()
    await server.close()
    await host.close()
    if (errors.length > 0) throw new Error(`the page had errors: ${errors.join('; ')}`)
  })
  page.setDefaultTimeout(15_000)
  await page.goto(server.url)
  return { page, copies, sidecar: () => host.pid() }
}

async function openElectron(homes: readonly string[], { dark = false, width = 1180, height = 760 }: OpenOptions = {}): Promise<App> {
  const copies = temporary()
  const app = await _electron.launch({
    executablePath: electronBinary!,
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      root, `--user-data-dir=${temporary()}`, '--sidecar', binary, ...homes.flatMap((home, i) => ['--home', `${names[i]}=${home}`]),
    ],
    env: { ...process.env, HERMES_HOME: join(copies, 'none') } as Record<string, string>,
    locale: 'en-GB',
    timezoneId: 'UTC',
    colorScheme: dark ? 'dark' : 'light',
  })
  const pid = app.process().pid!
  // Nobody can press a button of the system's own dialog: it answers as a user would who takes the name that it proposes.
  await app.evaluate(({ dialog }, folder) => {
    let copy = 0
    dialog.showSaveDialog = (async () => ({ canceled: false, filePath: `${folder}/copy-${++copy}.json` })) as typeof dialog.showSaveDialog
  }, copies)
  const page = await app.firstWindow()
  const errors = watchErrors(page)
  onTestFinished(async () => {
    await app.close()
    if (errors.length > 0) throw new Error(`the page had errors: ${errors.join('; ')}`)
  })
  page.setDefaultTimeout(15_000)
  await app.evaluate(({ BrowserWindow }, size) => BrowserWindow.getAllWindows()[0]!.setContentSize(size.width, size.height), { width, height })
  return { page, copies, sidecar: async () => childOf(pid) }
}

/** The sidecar among the processes of an app. */
function childOf(pid: number): number | undefined {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n')
  const line = lines.map((text) => text.trim().split(/\s+/)).find(([, parent, program]) => Number(parent) === pid && program === binary)
  return line && Number(line[0])
}

/** Waits until the sidecar of an app is another process than before. */
export async function runsAgain(app: App, before: number): Promise<void> {
  await until('the sidecar runs again', async () => {
    const pid = await app.sidecar()
    return pid !== undefined && pid !== before
  })
}
