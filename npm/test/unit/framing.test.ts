import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { LineSplitter, readFrame, requestLine } from '../../src/framing.ts'
import { program, newHome } from '../support/world.ts'

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
