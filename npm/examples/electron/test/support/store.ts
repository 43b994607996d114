import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { history, type Session } from './history.js'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const exe = process.platform === 'win32' ? '.exe' : ''
const python = process.env.PYTHON ?? (process.platform === 'win32' ? 'python' : 'python3')

/** The real program: SIDECAR_TEST_BINARY, else what `make npm-test` has built. */
export const binary: string = process.env.SIDECAR_TEST_BINARY ?? here(`../../../../../build/sidecar${exe}`)

const schema = readFileSync(here('../../../../../fixtures/schema_legacy.sql'), 'utf8')

/** A folder for one test, gone afterwards. */
export function temporary(): string {
  const folder = newFolder()
  onTestFinished(() => remove(folder))
  return folder
}

/** A profile's home with a real store that holds these sessions. */
export function newHome(sessions: readonly Session[] = history()): string {
  const home = temporary()
  mkdirSync(join(home, 'sessions'))
  copyFileSync(join(madeOnce(sessions), 'state.db'), join(home, 'state.db'))
  return home
}

const made = new Map<string, string>()

/** A store that was closed by whoever made it, so that it may be copied: to make it takes the most of a second. */
function madeOnce(sessions: readonly Session[]): string {
  const sql = sessions.map(rowsOf).join('\n')
  const known = made.get(sql)
  if (known !== undefined) return known
  const folder = newFolder()
  process.once('exit', () => remove(folder))
  runSQL(folder, `PRAGMA journal_mode=WAL; BEGIN; ${schema} ${sql} COMMIT;`)
  made.set(sql, folder)
  return folder
}

const newFolder = () => mkdtempSync(join(tmpdir(), 'sidecar-example-'))
const remove = (folder: string) => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })

/** The rows of one session and its messages. */
export function rowsOf({ id, title, source, at, parent, how, ended, said }: Session): string {
  const config = how === 'delegate' ? `{"_delegate_from":"${parent}"}` : how === 'branch' ? `{"_branched_from":"${parent}"}` : undefined
  const row = [id, source, config, parent, at, ended && at + 60, ended, said.length, title].map(literal).join(', ')
  const messages = said.map((text, i) => `(${[id, i % 2 === 0 ? 'user' : 'assistant', text, at + i].map(literal).join(', ')})`)
  return `INSERT INTO sessions (id, source, model_config, parent_session_id, started_at, ended_at, end_reason, message_count, title) VALUES (${row});`
    + (messages.length > 0 ? `INSERT INTO messages (session_id, role, content, timestamp) VALUES ${messages.join(', ')};` : '')
}

const literal = (value: string | number | undefined) => (value === undefined ? 'NULL' : typeof value === 'number' ? `${value}` : `'${value.replaceAll("'", "''")}'`)

/** Runs SQL in a store, in another process, as the Agent is one: none of ours may open the files of a store beside SQLite. */
export function runSQL(home: string, sql: string): void {
  inPython(home, 'db.executescript(sys.stdin.buffer.read().decode("utf8"))', sql)
}

/** The ids of the sessions that a store holds. */
export function idsIn(home: string): string[] {
  return JSON.parse(inPython(home, 'print(json.dumps([row[0] for row in db.execute("SELECT id FROM sessions ORDER BY id")]))')) as string[]
}

function inPython(home: string, code: string, input = ''): string {
  const script = `import json, sqlite3, sys\ndb = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)\n${code}\ndb.close()`
  return execFileSync(python, ['-c', script, join(home, 'state.db')], { input, encoding: 'utf8' })
}

/** Holds the store's write lock, as a saving Agent does, until what it gives is called. */
export async function holdWriteLock(home: string): Promise<() => Promise<void>> {
  const script = 'import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1], isolation_level=None)\ndb.execute("BEGIN IMMEDIATE")\nprint("held", flush=True)\nsys.stdin.read()'
  const child = spawn(python, ['-c', script, join(home, 'state.db')], { stdio: ['pipe', 'pipe', 'inherit'] })
  const gone = once(child, 'exit')
  const release = async () => {
    child.stdin.end()
    await gone
  }
  onTestFinished(release)
  await once(child.stdout, 'data')
  return release
}

/** A turn of the Agent's that runs in a conversation: the sidecar refuses to delete it until then. */
export function beginTurn(home: string, root: string, until = 4_102_444_800): void {
  runSQL(home, `INSERT INTO session_turn_leases VALUES (${literal(root)}, 'pid=812:turn=3', 1, ${until});`)
}

export function endTurn(home: string, root: string): void {
  runSQL(home, `DELETE FROM session_turn_leases WHERE conversation_id = ${literal(root)};`)
}

/** Asks again and again until it is so. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, patience = 20_000): Promise<void> {
  const end = performance.now() + patience
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`it never came to be that ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Whether a process is there that has not ended. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  if (!existsSync('/proc/self/stat')) return true
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]![0] !== 'Z'
  } catch {
    return false
  }
}
