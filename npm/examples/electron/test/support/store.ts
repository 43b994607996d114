import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { inPython, runSQL, writeLock } from '../../../../test/support/agent.js'
import { history, type Session } from './history.js'

export { runSQL } from '../../../../test/support/agent.js'
export { isAlive, until } from '../../../../test/support/processes.js'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const exe = process.platform === 'win32' ? '.exe' : ''

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

/** The ids of the sessions that a store holds. */
export function idsIn(home: string): string[] {
  return JSON.parse(inPython(home, 'print(json.dumps([row[0] for row in db.execute("SELECT id FROM sessions ORDER BY id")]))')) as string[]
}

/** Holds the store's write lock, as a saving Agent does, until what it gives is called or the test is over. */
export async function holdWriteLock(home: string): Promise<() => Promise<void>> {
  const release = await writeLock(home)
  onTestFinished(release)
  return release
}

/** A turn of the Agent's that runs in a conversation: the sidecar refuses to delete it until then. */
export function beginTurn(home: string, root: string, until = 4_102_444_800): void {
  runSQL(home, `INSERT INTO session_turn_leases VALUES (${literal(root)}, 'pid=812:turn=3', 1, ${until});`)
}

export function endTurn(home: string, root: string): void {
  runSQL(home, `DELETE FROM session_turn_leases WHERE conversation_id = ${literal(root)};`)
}
