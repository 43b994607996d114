import { expect, test } from 'vitest'
import { TestClock } from './support/clock.js'
import { failureOf, holdWriteLock, newHome, started, until } from './support/world.js'

test('a thousand calls in flight finish, each with its own answer', async () => {
  const home = newHome(40), sidecar = await started()
  const answers = await Promise.all(Array.from({ length: 1000 }, async (_, i) => {
    if (i % 25 === 0) {
      const id = `session-${i / 25}`
      const result = await sidecar.state_db.delete_cli_session({ profile_home: home, session_id: id })
      return result.ok && result.deleted_ids?.join() === id
    }
    if (i % 2 === 0) return (await sidecar.state_db.expiring_fences({ profile_home: home, session_ids: [`id-${i}`] })).session_ids.length === 0
    return (await sidecar.state_db.first_generation({ profile_home: home, candidates: [`id-${i}`, 'other'] })).session_id === `id-${i}`
  }))
  expect(answers.filter((right) => !right)).toEqual([])
  expect((await sidecar.state_db.list_conversations({ profile_home: home })).conversations).toEqual([])
})

test('a call that finds the sidecar busy is made again until there is room', async () => {
  const home = newHome(), sidecar = await started({ env: { SIDECAR_MAX_CALLS: '1' } })
  const release = await holdWriteLock(home)
  const first = sidecar.state_db.delete_cli_session({ profile_home: home, session_id: 'session-0' })
  const others = Array.from({ length: 20 }, () => sidecar.state_db.list_conversations({ profile_home: home }))
  await release()
  expect((await first).ok).toBe(true)
  expect(await Promise.all(others)).toHaveLength(20)
})

test('a sidecar that stays busy is asked for a minute, no longer', async () => {
  const home = newHome(), clock = new TestClock(), sidecar = await started({ clock, env: { SIDECAR_MAX_CALLS: '1' } })
  const abort = new AbortController()
  await holdWriteLock(home)
  const first = sidecar.state_db.delete_cli_session({ profile_home: home, session_id: 'session-0' }, { signal: abort.signal })
  const second = failureOf(sidecar.state_db.list_conversations({ profile_home: home }))
  for (const [n, wait] of [[1, 30_000], [2, 31_000]] as const) {
    await until('it waits', () => clock.asked.length === n)
    clock.advance(wait)
  }
  expect(await second).toMatchObject({ code: -32000, condition: 'sidecar_busy', reason: 'sidecar_busy', retryable: true })
  abort.abort()
  await failureOf(first)
})

test('a call that waits for room can be given up', async () => {
  const home = newHome(), clock = new TestClock(), sidecar = await started({ clock, env: { SIDECAR_MAX_CALLS: '1' } })
  await holdWriteLock(home)
  const abort = new AbortController()
  const first = sidecar.state_db.delete_cli_session({ profile_home: home, session_id: 'session-0' }, { signal: abort.signal })
  const second = failureOf(sidecar.runtime.status(undefined, { signal: abort.signal }))
  for (let n = 1; n <= 3; n++) {
    await until('it waits', () => clock.asked.length === n)
    if (n < 3) clock.advance(1000)
  }
  abort.abort()
  expect((await second).reason).toBe('cancelled')
  await failureOf(first)
  // The lock is still held: the one slot is free only if the first call was really cancelled there. And nothing else was: there were
  // the handshake, the first, and its cancel; what is refused for want of room does not count.
  expect((await sidecar.runtime.status()).counters.answered).toBe(3)
})
