import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { binary, holdWriteLock, isAlive, newHome, temporary, until } from './support/store.js'

const program = fileURLToPath(new URL('../dist/host/web.js', import.meta.url))

test.skipIf(process.platform === 'win32')('the Node host prints its address, and ends in order with what it has begun', async () => {
  const home = newHome()
  const child = spawn(process.execPath, [program, '--home', `Mine=${home}`, '--sidecar', binary, '--copies', temporary()], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  let printed = '', logged = ''
  child.stdout.setEncoding('utf8').on('data', (piece) => { printed += piece })
  child.stderr.setEncoding('utf8').on('data', (piece) => { logged += piece })
  await until('it has told the address and the log', () => printed.includes('\n') && logged.includes('"pid":'))
  const { origin, hash } = new URL(printed.trim())
  expect(origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect((await fetch(origin)).status).toBe(200)
  await holdWriteLock(home)
  const call = fetch(`${origin}/api/call`, {
    method: 'POST',
    headers: { 'Origin': origin, 'Authorization': `Bearer ${hash.slice('#token='.length)}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ method: 'delete', parameters: ['profile-1', 'tax', { mode: 'keep', expectedIds: ['tax'], job: 'j' }] }),
  })
  const sidecar = Number(/"pid":(\d+)/.exec(logged)![1])
  await until('the call is there', async () => {
    const answer = await fetch(`${origin}/api/call`, { method: 'POST', headers: { Origin: origin } })
    return answer.status === 403
  })
  child.kill('SIGTERM')
  const answer = await call.then((reply) => reply.text(), () => 'cut')
  expect(answer).toMatch(/"reason":"(cancelled|sidecar_closed)"|^cut$/)
  expect(await ended).toEqual([0, null])
  expect(isAlive(sidecar)).toBe(false)
})
