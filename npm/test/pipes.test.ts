import { createRequire, syncBuiltinESMExports } from 'node:module'
import { expect, onTestFinished, test } from 'vitest'
import { newHome, program, started, wrapper } from './support/world.js'

test('the program is started by itself, without a shell or a window, and with pipes alone', async () => {
  const builtin = createRequire(import.meta.url)('node:child_process'), { spawn } = builtin
  const replace = (by: typeof spawn) => {
    builtin.spawn = by
    syncBuiltinESMExports()
  }
  const asked: Record<string, unknown>[] = []
  onTestFinished(() => replace(spawn))
  replace((command: string, args: string[], options: object) => {
    asked.push({ command, args, ...options })
    return spawn(command, args, options)
  })
  await started({ env: { SIDECAR_MAX_CALLS: '7' } })
  expect(asked).toEqual([{ command: program, args: [], stdio: 'pipe', windowsHide: true, env: { ...process.env, SIDECAR_LOG_LEVEL: 'debug', SIDECAR_MAX_CALLS: '7' } }])
})

test.skipIf(process.platform === 'win32')('a sidecar whose output comes byte by byte is understood', async () => {
  const relay = `process.stdin.on('data', async (piece) => { for (const byte of piece) { process.stdout.write(Buffer.from([byte])); await new Promise(setImmediate) } })`
  const sidecar = await started({ binary: wrapper(`"$SIDECAR" | '${process.execPath}' -e ${JSON.stringify(relay)}`) })
  const { conversations } = await sidecar.state_db.list_conversations({ profile_home: newHome(1) })
  expect(conversations[0]!.title).toBe('Kyōto 0 🍁')
})

test.skipIf(process.platform === 'win32')('a sidecar that cannot be understood is ended, and no call waits for ever', async () => {
  const lines: string[] = []
  const sidecar = await started({ binary: wrapper('"$SIDECAR" | sed -u \'s/^.*"methods".*$/no JSON/\''), logger: (line) => lines.push(line) })
  await expect(sidecar.rpc.methods()).rejects.toMatchObject({ reason: 'sidecar_exited' })
  expect(lines).toContain('session-sidecar: the sidecar wrote a line that is no JSON object and is started anew')
})
