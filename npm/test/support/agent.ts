import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

// What the Agent does to a store meanwhile, by another program. The example's tests use it too, which have a vitest of their own: so there
// is none in here.

const python = process.env.PYTHON ?? (process.platform === 'win32' ? 'python' : 'python3')

const scriptOver = (code: string) => `import json, sqlite3, sys\ndb = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)\n${code}\ndb.close()`

/** Runs Python over a store, as `db`, in another process: none of ours may open the files of a store beside SQLite. Gives its output. */
export function inPython(home: string, code: string, input = ''): string {
  return execFileSync(python, ['-c', scriptOver(code), join(home, 'state.db')], { input, encoding: 'utf8' })
}

/** Runs SQL in a store, as the Agent would. */
export function runSQL(home: string, sql: string): void {
  inPython(home, 'db.executescript(sys.stdin.buffer.read().decode("utf8"))', sql)
}

/** Holds the store's write lock, as a saving Agent does, until what it gives is called. */
export async function writeLock(home: string): Promise<() => Promise<void>> {
  const code = 'db.execute("BEGIN IMMEDIATE")\nprint("held", flush=True)\nsys.stdin.read()'
  const child = spawn(python, ['-c', scriptOver(code), join(home, 'state.db')], { stdio: ['pipe', 'pipe', 'inherit'] })
  const gone = once(child, 'exit')
  await once(child.stdout, 'data')
  return async () => {
    child.stdin.end()
    await gone
  }
}
