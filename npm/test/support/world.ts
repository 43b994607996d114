import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { start, type Sidecar, type StartOptions } from 'session-sidecar'
import { runSQL, writeLock } from './agent.js'

export { runSQL } from './agent.js'
export { isAlive, processState, until } from './processes.js'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const exe = process.platform === 'win32' ? '.exe' : ''

/**
 * The real program that the tests start: SIDECAR_TEST_BINARY, else what `make npm-test` has built. Where neither is there the
 * package has to find its own, as it does for an app.
 */
export const binary: string | undefined = [process.env.SIDECAR_TEST_BINARY, here(`../../../build/sidecar${exe}`)].find((path) => path && existsSync(path))

/** The same program as a path: the package's own, where that is what is tested. */
export const program: string = binary
  ?? createRequire(import.meta.url).resolve(`session-sidecar-${process.platform}-${process.arch}/bin/sidecar${exe}`)

const fixtures = process.env.SIDECAR_TEST_FIXTURES ?? here('../../../fixtures')

/** A folder for one test, gone afterwards. */
export function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sidecar-client-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** What was said in the stores that are made below: no log may hold it. */
const said = /Kyōto|bamboo/

/** Starts a sidecar for one test. All that it logs is looked through when the test is over. */
export async function started(options: StartOptions = {}): Promise<Sidecar> {
  const log: string[] = []
  const sidecar = await start({
    ...(binary === undefined ? {} : { binary }), ...options, env: { SIDECAR_LOG_LEVEL: 'debug', ...options.env },
    logger: (line) => {
      log.push(line)
      options.logger?.(line)
    },
  })
  onTestFinished(async () => {
    await sidecar.close()
    expect(log.filter((line) => said.test(line)), 'the log holds what was said in a conversation').toEqual([])
  })
  return sidecar
}

/** A profile's home with a real store of so many sessions, `session-0` and so on, each with a message. */
export function newHome(sessions = 3, schema: 'legacy' | 'runtime' = 'legacy'): string {
  const home = temporary()
  copyFileSync(join(madeOnce(sessions, schema), 'state.db'), join(home, 'state.db'))
  return home
}

const made = new Map<string, string>()

/** A store that was closed by whoever made it, so that it may be copied: to make it takes the most of a second. */
function madeOnce(sessions: number, schema: string): string {
  const known = made.get(`${sessions} ${schema}`)
  if (known) return known
  const folder = mkdtempSync(join(tmpdir(), 'sidecar-client-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const rows = Array.from({ length: sessions }, (_, i) => `
    INSERT INTO sessions (id, source, started_at, title, message_count) VALUES ('session-${i}', 'cli', ${1_760_000_000 + i}, 'Kyōto ${i} 🍁', 1);
    INSERT INTO messages (session_id, role, content, timestamp) VALUES ('session-${i}', 'user', 'bamboo ${i}', ${1_760_000_000 + i});`)
  runSQL(folder, `PRAGMA journal_mode=WAL; BEGIN; ${readFileSync(join(fixtures, `schema_${schema}.sql`), 'utf8')} ${rows.join('')} COMMIT;`)
  made.set(`${sessions} ${schema}`, folder)
  return folder
}

/** Holds the store's write lock, as a saving Agent does, until what it gives is called or the test is over. */
export async function holdWriteLock(home: string): Promise<() => Promise<void>> {
  const release = await writeLock(home)
  onTestFinished(release)
  return release
}

/** A shell script that stands between the client and the real program, which it finds as $SIDECAR. */
export function wrapper(script: string): string {
  const path = join(temporary(), 'wrapper')
  writeFileSync(path, `#!/bin/sh\nSIDECAR='${program}'\n${script}\n`, { mode: 0o755 })
  return path
}

/** What went wrong with a call that had to fail. */
export async function failureOf(call: Promise<unknown>): Promise<import('session-sidecar').SidecarError> {
  return call.then(
    (result) => { throw new Error(`it gave ${JSON.stringify(result)}`) },
    (error) => error,
  )
}
