import { expect, onTestFinished, test } from 'vitest'
import { requestLine } from '../../src/framing.ts'
import { SidecarProcess } from '../../src/process.ts'
import { program, until } from '../support/world.ts'

const mebibyte = 1 << 20

test.skipIf(process.platform === 'win32')('no more is written than the sidecar reads', async () => {
  const answered: number[] = []
  const sidecar = new SidecarProcess(program, process.env, {
    line: (line) => answered.push(JSON.parse(line).id), log() {}, ended() {},
  })
  onTestFinished(async () => {
    sidecar.kill()
    await sidecar.ended()
  })
  process.kill(sidecar.pid!, 'SIGSTOP')
  const ids = Array.from({ length: 12 }, (_, i) => i + 1)
  for (const id of ids) sidecar.write(id, requestLine(id, 'rpc.cancel', { id: 'x'.repeat(mebibyte) }))
  expect(sidecar.unwritten).toBeLessThan(2 * mebibyte) // the rest is not even in Node's buffer
  expect(sidecar.withdraw(12)).toBe(true)
  expect(sidecar.withdraw(1)).toBe(false)
  sidecar.write(41, requestLine(41, 'rpc.cancel', { id: 1 }), true)
  process.kill(sidecar.pid!, 'SIGCONT')
  sidecar.endInput()
  await until('all are answered', () => answered.length === 12)
  await sidecar.ended()
  // One call of this method is over before the next line is read: the order is that in which they were written.
  expect(answered).toEqual([1, 41, ...ids.slice(1, -1)])
  expect(sidecar.unwritten).toBe(0)
})
