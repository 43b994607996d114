import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, onTestFinished, test } from 'vitest'
import { reasons, SidecarError, type Sidecar } from 'session-sidecar'
import { binary, newHome, program, started, temporary } from './support/world.js'

const readme = readFileSync(process.env.SIDECAR_TEST_README ?? new URL('../README.md', import.meta.url), 'utf8').replaceAll('\r\n', '\n')

/** The code below a comment like `<!-- run: delete -->`. */
const code = new Map([...readme.matchAll(/<!-- (?:run|config): ([a-z-]+) -->\n```js\n(.*?)```\n/gs)].map(([, name, text]) => [name!, text!]))
const used = new Set<string>()

/** Runs a piece of the README with what an app has around it, and gives the names that it defines. */
async function run(name: string, around: Record<string, unknown>, gives: string[] = []): Promise<Record<string, unknown>> {
  used.add(name)
  const lines = code.get(name)!.split('\n')
  const imports = lines.filter((line) => line.startsWith('import '))
  const body = lines.filter((line) => !line.startsWith('import '))
  const { default: piece } = await load(name, `${imports.join('\n')}\nexport default async ({ ${Object.keys(around).join(', ')} }) => {\n${body.join('\n')}\nreturn { ${gives.join(', ')} }\n}\n`)
  return piece(around)
}

/** Evaluates a configuration of the README. */
async function config(name: string): Promise<Record<string, any>> {
  used.add(name)
  return (await load(name, code.get(name)!)).default
}

/** Loads a module that lies beside this file, so that it finds the package as an app does. */
async function load(name: string, text: string): Promise<Record<string, any>> {
  const path = join(besideThisFile(), `${name}.mjs`)
  writeFileSync(path, text)
  return import(/* @vite-ignore */ path)
}

function besideThisFile(): string {
  const folder = mkdtempSync(fileURLToPath(new URL('.run-', import.meta.url)))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function collector() {
  const messages: unknown[] = []
  return { messages, showMessage: (message: unknown) => void messages.push(message) }
}

describe('the code of the README', () => {
  test('deletes a session', async () => {
    const home = newHome(), { messages, showMessage } = collector()
    const { sidecar, result } = await withBinary('delete', { home, id: 'session-1', showMessage }, ['sidecar', 'result']) as { sidecar: Sidecar; result: unknown }
    await sidecar.close()
    expect(result).toMatchObject({ ok: true, deleted_ids: ['session-1'] })
    expect(messages).toEqual([])
  })

  test('shows what would go, deletes it, and takes back', async () => {
    const home = newHome(), sidecar = await started(), { messages, showMessage } = collector()
    const asked: string[] = []
    await run('preview', { sidecar, home, id: 'session-0', showMessage, confirm: async (question: string) => asked.push(question) })
    expect(asked).toEqual(['Delete 1 sessions?'])
    const { entries } = await sidecar.trash.list({ profile_home: home })
    const until = new Date(entries[0]!.keep_until * 1000)
    expect(until.getTime() - Date.now()).toBeGreaterThan(29 * 86_400_000)
    expect(messages).toEqual([`You can take this back until ${until.toLocaleDateString()}.`])
    const logged: unknown[][] = [], log = (...line: unknown[]) => void logged.push(line)
    await run('errors', { sidecar, home, operation: entries[0]!.operation_id, showMessage, log })
    expect(logged).toEqual([])
    await run('errors', { sidecar, home, operation: entries[0]!.operation_id, showMessage, log })
    expect(messages.slice(1)).toEqual(['This conversation is not in the trash any more.'])
    expect(logged).toEqual([[expect.stringMatching(/not_found/), 'not_found', -32000, 'not_found', undefined]])
  })

  test('deletes many and tells how far it is', async () => {
    const home = newHome(), sidecar = await started(), { messages, showMessage } = collector()
    const { failed } = await run('progress', { sidecar, home, ids: ['session-0', 'session-2'], showMessage }, ['failed'])
    expect(failed).toEqual([])
    expect(messages).toEqual(['1 of 2', '2 of 2'])
  })

  test('listens', async () => {
    const home = newHome(), sidecar = await started(), { messages, showMessage } = collector()
    const { stopListening } = await run('events', { sidecar, showMessage }, ['stopListening'])
    await sidecar.state_db.delete_cli_session({ profile_home: home, session_id: 'session-0' })
    await expect.poll(() => messages).toEqual([`${home}: 1`])
    expect(stopListening).toBeTypeOf('function')
  })

  test('starts the program that was packaged as a resource', async () => {
    const resources = temporary()
    mkdirSync(join(resources, 'session-sidecar'))
    copyFileSync(program, join(resources, 'session-sidecar', process.platform === 'win32' ? 'sidecar.exe' : 'sidecar'))
    const electron = process as { resourcesPath?: string }
    electron.resourcesPath = resources
    onTestFinished(() => { delete electron.resourcesPath })
    const { sidecar } = await run('resources', { home: newHome() }, ['sidecar']) as { sidecar: Sidecar }
    expect(sidecar.pid).toBeTypeOf('number')
    await sidecar.close()
  })

  test('packages what the client looks for', async () => {
    const pattern = '**/node_modules/session-sidecar-*/**'
    expect((await config('electron-builder')).asarUnpack).toEqual([pattern])
    expect((await config('forge')).packagerConfig.asar.unpack).toBe(pattern)
    // The message of a program that is still inside names the same pattern.
    const source = new URL('../src/binary.ts', import.meta.url)
    if (existsSync(source)) expect(readFileSync(source, 'utf8')).toContain(`add "${pattern}" to asarUnpack`)
  })

  test('ships the program of the system that is packaged for, not of the one that builds', async () => {
    const resources = await config('electron-builder-resources')
    for (const [key, os] of [['linux', 'linux'], ['mac', 'darwin'], ['win', 'win32']] as const) {
      expect(resources[key]!.extraResources).toEqual([{ from: `node_modules/session-sidecar-${os}-\${arch}/bin`, to: 'session-sidecar' }])
    }
    const project = temporary(), bin = join(project, 'node_modules/session-sidecar-win32-arm64/bin'), app = join(project, 'out/resources/app')
    mkdirSync(bin, { recursive: true })
    mkdirSync(app, { recursive: true })
    writeFileSync(join(bin, 'sidecar.exe'), 'for Windows')
    const { hooks } = await config('forge-resources')
    const before = process.cwd()
    process.chdir(project)
    onTestFinished(() => process.chdir(before))
    await hooks.packageAfterCopy({}, app, '38.0.0', 'win32', 'arm64')
    expect(readFileSync(join(app, '../session-sidecar/sidecar.exe'), 'utf8')).toBe('for Windows')
  })

  test('has the types of the client', () => {
    const around = `import type { Sidecar } from 'session-sidecar'
      declare global {
        const sidecar: Sidecar, home: string, id: string, ids: string[], operation: string
        const showMessage: (text: string) => void, confirm: (question: string) => Promise<boolean>, log: (...line: unknown[]) => void
        namespace NodeJS { interface Process { resourcesPath: string } } // as Electron has it
      }`
    expect(typeErrors(around, new Map([...code].filter(([name]) => readme.includes(`<!-- run: ${name} -->`))))).toEqual([])
    // It would find a mistake.
    const wrong = code.get('progress')!.replace('data.done', 'data.index')
    expect(typeErrors(around, new Map([['progress', wrong]]))).toEqual([expect.stringMatching(/^progress: Property 'index' does not exist on type/)])
  })

  test('is all run', () => {
    expect([...code.keys()].sort()).toEqual([...used].sort())
    expect(code.size).toBe(readme.match(/^```js$/gm)!.length)
  })
})

test('the README has every reason as the client has it', () => {
  const rows = new Map([...readme.matchAll(/^\| `([a-z_]+)` \| .+ \| (yes|no) \| (.+) \|$/gm)].map(([, reason, again, sentence]) => [reason!, { retryable: again === 'yes', sentence: sentence! }]))
  for (const [reason, meaning] of Object.entries(reasons)) expect(rows.get(reason), reason).toEqual(meaning)
  for (const [reason, row] of rows) expect(new SidecarErrorOf(reason), reason).toMatchObject({ reason, ...row })
  expect(rows.size).toBe(Object.keys(reasons).length + 6)
})

/** What a strict TypeScript says of pieces of the README that stand among some declarations. */
function typeErrors(around: string, pieces: Map<string, string>): string[] {
  const folder = besideThisFile()
  const files = [...pieces, ['around', around] as const].map(([name, text]) => {
    const path = join(folder, `${name}.mts`)
    writeFileSync(path, text.includes('import ') ? text : `${text}\nexport {}\n`)
    return path
  })
  const options = { strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, lib: ['lib.es2022.d.ts'], module: ts.ModuleKind.NodeNext, skipLibCheck: true, types: ['node'] }
  return ts.getPreEmitDiagnostics(ts.createProgram(files, options)).map(({ file, messageText }) =>
    `${file ? basename(file.fileName, '.mts') : ''}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`)
}

class SidecarErrorOf extends SidecarError {
  constructor(reason: string) {
    super(reason, reason)
  }
}

/** As `run`, with the tests' program where the package's own is not installed. */
async function withBinary(name: string, around: Record<string, unknown>, gives: string[]): Promise<Record<string, unknown>> {
  if (binary !== undefined) {
    const text = code.get(name)!
    code.set(name, text.replace('start({ ', `start({ binary: ${JSON.stringify(binary)}, `))
    onTestFinished(() => void code.set(name, text))
  }
  return run(name, around, gives)
}
