import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { LineSplitter, readFrame, requestLine } from '../../src/framing.ts'
import { program, newHome, started, wrapper } from '../support/world.ts'

/** What the real program writes for a few requests, some of it not ASCII. */
function written(): Buffer {
  const home = newHome(2)
  const requests = [
    requestLine(1, 'runtime.handshake', { rpc_version: 1 }),
    requestLine(2, 'state_db.list_conversations', { profile_home: home }),
    requestLine(3, 'state_db.delete_cli_session', { profile_home: home, session_id: 'session-0' }),
  ]
  return execFileSync(program, [], { input: Buffer.concat(requests), stdio: ['pipe', 'pipe', 'ignore'] })
}

test('a line is read right wherever it is split', () => {
  const bytes = written()
  const whole = new LineSplitter().push(bytes)
  expect(whole.length).toBeGreaterThanOrEqual(3)
  expect(whole.join()).toContain('Kyōto 1 🍁')
  expect(whole.every((line) => readFrame(line) !== undefined)).toBe(true)
  for (let at = 0; at <= bytes.length; at++) {
    const splitter = new LineSplitter()
    const lines = [...splitter.push(bytes.subarray(0, at)), ...splitter.push(bytes.subarray(at))]
    if (lines.join('\n') !== whole.join('\n')) expect(lines, `split at ${at}`).toEqual(whole)
  }
  const splitter = new LineSplitter()
  expect([...bytes].flatMap((byte) => splitter.push(Buffer.from([byte])))).toEqual(whole)
})

test('a line may end as on Windows, and blank ones are none', () => {
  const splitter = new LineSplitter()
  expect([...splitter.push(Buffer.from('{"a":1}\r')), ...splitter.push(Buffer.from('\n\r\n\n{"b'))]).toEqual(['{"a":1}'])
  expect(splitter.push(Buffer.from('":2}\n'))).toEqual(['{"b":2}'])
})

test('what is no object is no frame', () => {
  for (const line of ['', '[]', 'null', '1', '{"a":', 'panic: x']) expect(readFrame(line)).toBeUndefined()
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
