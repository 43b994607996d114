import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as esm from 'session-sidecar'
import { refusal, SidecarError, type Events, type Progress, type SidecarEvents } from 'session-sidecar'
import { TestClock } from './support/clock.js'
import { failureOf, holdWriteLock, newHome, runSQL, started, temporary, until, wrapper } from './support/world.js'

describe('a call', () => {
  test('deletes a session for good', async () => {
    const home = newHome()
    const sidecar = await started({ homes: [home] })
    expect(sidecar.handshake).toMatchObject({ rpc_version: 1, fts5: true, agent: { known: false } })
    expect(sidecar.handshake.pid).toBe(sidecar.pid)
    const result = await sidecar.state_db.delete_cli_session({ profile_home: home, session_id: 'session-1' })
    expect(result).toMatchObject({ ok: true, deleted_ids: ['session-1'], existed: true, path: 'legacy' })
    expect(refusal(result)).toBeUndefined()
    const { conversations } = await sidecar.state_db.list_conversations({ profile_home: home })
    expect(conversations.map(({ root }) => root)).toEqual(['session-2', 'session-0'])
    expect(conversations[0]!.title).toBe('Kyōto 2 🍁')
  })

  test('of every method goes through the group of its name', async () => {
    const sidecar = await started()
    const { methods } = await sidecar.rpc.methods()
    for (const name of methods) {
      const [group, method] = name.split('.') as [keyof typeof sidecar, string]
      expect((sidecar[group] as unknown as Record<string, unknown>)[method], name).toBeTypeOf('function')
    }
    expect((await sidecar.call('runtime.status')).calls.limit).toBe(64)
  })

  test('introduces the Agent and the homes that are named', async () => {
    const agentDir = temporary(), home = newHome()
    const sidecar = await started({ agentDir, baseHome: home, homes: [home] })
    expect(sidecar.handshake.agent).toMatchObject({ known: true, can_retire: false })
    expect((await sidecar.runtime.status()).watched).toHaveLength(1)
  })

  test('reports its progress to a callback and to whoever iterates', async () => {
    const home = newHome(5), sidecar = await started()
    const ids = ['session-0', 'session-1', 'session-2', 'absent']
    const called: Progress[] = [], read: Progress[] = []
    const call = sidecar.state_db.delete_sessions({ profile_home: home, session_ids: ids }, { onProgress: (progress) => called.push(progress) })
    for await (const progress of call) read.push(progress)
    expect((await call).results).toHaveLength(4)
    expect(read.map(({ seq, event, data }) => [seq, event, data.done, data.session_id])).toEqual(ids.map((id, i) => [i + 1, 'progress', i + 1, id]))
    expect(called).toEqual(read)
  })

  test('that fails ends the iteration with its error', async () => {
    const sidecar = await started()
    const call = sidecar.state_db.compact({ profile_home: temporary() })
    await expect((async () => { for await (const _ of call); })()).rejects.toMatchObject({ reason: 'store_missing' })
  })

  test('whose listener throws loses no frame', async () => {
    const home = newHome(), sidecar = await started(), thrown: unknown[] = []
    const others = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException').on('uncaughtException', (error) => thrown.push(error))
    try {
      const result = await sidecar.state_db.delete_sessions(
        { profile_home: home, session_ids: ['session-0', 'session-1'] }, { onProgress: ({ seq }) => { throw new Error(`listener ${seq}`) } },
      )
      expect(result.results.every(({ ok }) => ok)).toBe(true)
      await until('both are told', () => thrown.length === 2)
    } finally {
      process.removeAllListeners('uncaughtException')
      for (const listener of others) process.on('uncaughtException', listener)
    }
  })

  test('has the types of its method', async () => {
    const sidecar = await started(), home = newHome()
    // `npm run check` reads these; none of them is ever called.
    void (() => [
      // @ts-expect-error an unknown field
      sidecar.state_db.features({ profile_home: home, more: 1 }),
      // @ts-expect-error a missing field
      sidecar.state_db.session_fence({ profile_home: home }),
      // @ts-expect-error no parameters at all
      sidecar.call('trash.list'),
      // @ts-expect-error no such method
      sidecar.call('trash.burn', {}),
      // @ts-expect-error no such event
      sidecar.on('trash.burnt', () => {}),
      sidecar.on('cleanup.changed', ({ removed_ids }) => removed_ids.at(0)?.length),
      sidecar.call('runtime.shutdown'),
    ])
    // Each of these reads progress by its event.
    void (async () => {
      const params = { profile_home: home, session_ids: [] }
      for await (const { event, data } of sidecar.state_db.delete_sessions(params)) {
        // @ts-expect-error only a progress has it
        data.done
        if (event === 'progress') [data.done + data.total, data.session_id.length]
        else [data.index.length, data.steps + 1]
        // @ts-expect-error no such event
        event === 'vacuum'
      }
      for await (const { data } of sidecar.call('state_db.compact', { profile_home: home })) {
        const phase: 'vacuum' | 'checkpoint' = data.phase
        // @ts-expect-error the field of another method
        data.done
        // @ts-expect-error what was told cannot be changed
        data.bytes = 0
        void phase
      }
      for await (const { seq } of sidecar.state_db.delete_cli_session({ profile_home: home, session_id: 'x' })) seq.toFixed()
      void sidecar.call('state_db.delete_sessions', params, { onProgress: ({ event, data }) => (event === 'purge' ? data.steps : data.done).toFixed() })
      // @ts-expect-error it is a number
      void sidecar.state_db.compact({ profile_home: home }, { onProgress: ({ data }) => data.bytes.length })
      // @ts-expect-error a method that reports nothing
      for await (const progress of sidecar.rpc.methods()) progress.event
      const kept: Progress<Events<'state_db.compact'>>[] = []
      void sidecar.state_db.compact({ profile_home: home }, { onProgress: (progress) => kept.push(progress) })
    })
    const list = await sidecar.call('trash.list', { profile_home: home })
    const count: number = list.entries.length
    expect(count).toBe(0)
  })

  test('is there for CommonJS too', () => {
    const cjs = createRequire(import.meta.url)('session-sidecar')
    expect(Object.keys(cjs).sort()).toEqual(Object.keys(esm).sort())
    expect(cjs.start).toBeTypeOf('function')
    const error = new cjs.SidecarError('sidecar_closed', 'closed')
    expect(error).toBeInstanceOf(SidecarError)
    class More extends SidecarError {}
    expect([error instanceof More, new More('x', 'x') instanceof More, new More('x', 'x') instanceof cjs.SidecarError]).toEqual([false, true, true])
    for (const other of [new Error('closed'), undefined, null, 'closed', () => {}]) expect(other instanceof SidecarError).toBe(false)
  })
})

describe('what the sidecar tells unasked', () => {
  test('comes as typed events', async () => {
    const home = newHome(), sidecar = await started()
    const told: SidecarEvents['receipts.committed'][] = []
    const stop = sidecar.on('receipts.committed', (event) => told.push(event))
    const { receipt } = await sidecar.state_db.delete_cli_session({ profile_home: home, session_id: 'session-0' })
    await until('the receipt is told', () => told.length === 1)
    expect(told[0]).toMatchObject({ sequence: 1, operation_id: receipt })
    stop()
    await sidecar.state_db.delete_cli_session({ profile_home: home, session_id: 'session-1' })
    await sidecar.runtime.status()
    expect(told).toHaveLength(1)
  })

  test('log lines go to the logger', async () => {
    const lines: string[] = []
    const sidecar = await started({ logger: (line) => lines.push(line) })
    await until('the first line is there', () => lines.length > 0)
    expect(JSON.parse(lines[0]!)).toMatchObject({ msg: 'serving', pid: sidecar.pid })
  })
})

describe('an error', () => {
  test('of the sidecar has every field', async () => {
    const error = await failureOf((await started()).state_db.features({ profile_home: temporary() }))
    expect(error).toBeInstanceOf(SidecarError)
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({
      name: 'SidecarError', code: -32000, condition: 'store_missing', reason: 'store_missing', retryable: false,
      sentence: 'There is no conversation history in this profile.', data: { condition: 'store_missing' },
    })
    expect(error.message).toMatch(/^state_db\.features: .*\(store_missing\)$/)
  })

  test('that carries more keeps it', async () => {
    const home = newHome()
    const error = await failureOf((await started()).receipts.list({ profile_home: home }))
    expect(error).toMatchObject({ reason: 'receipts_schema_missing', detail: 'no such table: session_deletion_receipts', retryable: false })
  })

  test('of a call that is not understood', async () => {
    const sidecar = await started()
    expect(await failureOf(sidecar.state_db.features({ profile_home: '' }))).toMatchObject({
      code: -32602, condition: undefined, reason: 'invalid_call', retryable: false, sentence: expect.stringMatching(/Update the app/),
    })
    expect(await failureOf(sidecar.call('state_db.guess' as 'rpc.methods'))).toMatchObject({ code: -32601, reason: 'invalid_call' })
  })

  test('of parameters that no line can carry is found before they are sent', async () => {
    const sidecar = await started(), home = newHome(1)
    for (const session_id of ['half \ud83c a pair', 'half \udf41', '\\\ud83c', 'x'.repeat(8 << 20)]) {
      await expect(sidecar.state_db.session_fence({ profile_home: home, session_id })).rejects.toBeInstanceOf(TypeError)
    }
    // A whole pair, and text that only looks like an escape, go through and are judged there.
    for (const session_id of ['\ud83c\udf41', '\\ud83c']) {
      expect(await failureOf(sidecar.state_db.session_fence({ profile_home: home, session_id }))).toMatchObject({ code: -32602 })
    }
  })

  test('is made of a refusal inside a result', async () => {
    const home = newHome()
    runSQL(home, "INSERT INTO session_turn_leases (conversation_id, holder, acquired_at, expires_at) VALUES ('session-0', 'somebody', 1, 9e9)")
    const result = await (await started()).state_db.delete_cli_session({ profile_home: home, session_id: 'session-0' })
    expect(result).toMatchObject({ ok: false, refused: 'active_turn', guard: { holder: 'somebody' } })
    expect(refusal(result)).toMatchObject({
      code: undefined, condition: undefined, reason: 'active_turn', retryable: true, detail: result.detail,
      sentence: 'This conversation is in use right now. Try again when the reply is finished.',
    })
  })
})

describe('a call that is given up', () => {
  test('by its signal is cancelled, and nothing is changed', async () => {
    const home = newHome(), sidecar = await started(), abort = new AbortController()
    const release = await holdWriteLock(home)
    const call = sidecar.state_db.delete_cli_session({ profile_home: home, session_id: 'session-0' }, { signal: abort.signal })
    await until('it is in flight', async () => (await sidecar.runtime.status()).calls.in_flight >= 2)
    abort.abort()
    expect(await failureOf(call)).toMatchObject({ code: -32001, condition: 'cancelled', reason: 'cancelled', retryable: true })
    await release()
    const { conversations } = await sidecar.state_db.list_conversations({ profile_home: home })
    expect(conversations).toHaveLength(3)
  })

  test('cancels nothing that it has done before', async () => {
    const home = newHome(), sidecar = await started(), abort = new AbortController()
    for (let i = 0; i < 20; i++) await sidecar.rpc.methods(undefined, { signal: abort.signal })
    const { counters: before } = await sidecar.runtime.status()
    abort.abort()
    await sidecar.state_db.features({ profile_home: home })
    expect((await sidecar.runtime.status()).counters.answered - before.answered).toBe(2)
  })

  test('by its time limit fails as such', async () => {
    const home = newHome(), sidecar = await started({ timeout: 300 })
    await holdWriteLock(home)
    const error = await failureOf(sidecar.state_db.delete_cli_session({ profile_home: home, session_id: 'session-0' }))
    expect(error).toMatchObject({ code: undefined, reason: 'timed_out', retryable: true })
    expect(error.message).toBe('state_db.delete_cli_session took longer than 300 ms')
  })

  test.skipIf(process.platform === 'win32')('and is not answered says that nobody knows what was done', async () => {
    const home = newHome(), clock = new TestClock(), sidecar = await started({ clock }), abort = new AbortController()
    process.kill(sidecar.pid!, 'SIGSTOP')
    onTestFinished(() => void process.kill(sidecar.pid!, 'SIGCONT'))
    const call = failureOf(sidecar.state_db.delete_cli_session({ profile_home: home, session_id: 'session-0' }, { signal: abort.signal }))
    await new Promise(setImmediate) // it is written
    abort.abort()
    expect(clock.asked).toEqual([5000])
    clock.advance(5000)
    expect(await call).toMatchObject({
      reason: 'timed_out', retryable: true, sentence: expect.stringMatching(/Look whether it was done/),
      message: 'state_db.delete_cli_session was cancelled, and the sidecar did not answer within 5 s: whether it was done is not known',
    })
  })

  test('by one signal of many calls needs one listener', async () => {
    const home = newHome(), sidecar = await started(), abort = new AbortController()
    let listeners = 0
    const { signal } = abort, add = signal.addEventListener.bind(signal)
    signal.addEventListener = (...args: Parameters<typeof add>) => { listeners++; add(...args) }
    const release = await holdWriteLock(home)
    const calls = Array.from({ length: 30 }, (_, i) => failureOf(sidecar.state_db.delete_cli_session({ profile_home: home, session_id: `session-${i}` }, { signal })))
    await until('they are in flight', async () => (await sidecar.runtime.status()).calls.in_flight > 30)
    expect(listeners).toBe(1)
    abort.abort()
    for (const error of await Promise.all(calls)) expect(error.reason).toBe('cancelled')
    await release()
  })

  test('only by a time limit that is one', async () => {
    const home = newHome(), sidecar = await started({ timeout: 2 ** 31 })
    const release = await holdWriteLock(home)
    const calls = [undefined, 2 ** 31 - 1, 2 ** 40, Infinity].map((timeout, i) => sidecar.state_db.delete_cli_session({ profile_home: home, session_id: `session-${i}` }, { timeout }))
    await until('they are in flight', async () => (await sidecar.runtime.status()).calls.in_flight > calls.length)
    await release()
    for (const { ok } of await Promise.all(calls)) expect(ok).toBe(true)
    for (const timeout of [Number.NaN, -1, '5' as never]) {
      await expect(sidecar.rpc.methods(undefined, { timeout })).rejects.toThrow(TypeError)
      await expect(started({ timeout })).rejects.toThrow('timeout has to be a number of milliseconds')
    }
  })

  test('after it was done gives its result', async () => {
    const home = newHome(), sidecar = await started(), abort = new AbortController()
    const call = sidecar.state_db.delete_sessions(
      { profile_home: home, session_ids: ['session-0', 'session-1', 'session-2'] }, { signal: abort.signal, onProgress: () => abort.abort() },
    )
    const { results } = await call
    expect(results[0]).toMatchObject({ ok: true, deleted_ids: ['session-0'] })
  })

  test('before it began sends nothing', async () => {
    const sidecar = await started()
    const { counters: before } = await sidecar.runtime.status()
    const why = new Error('the window is closed')
    expect(await failureOf(sidecar.rpc.methods(undefined, { signal: AbortSignal.abort(why) }))).toMatchObject({ reason: 'cancelled', code: undefined, cause: why })
    const { counters: after } = await sidecar.runtime.status()
    expect(Object.values(after).reduce((a, b) => a + b, 0) - Object.values(before).reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(1)
  })
})

test('a sidecar that cannot be started is explained', async () => {
  expect(await failureOf(started({ binary: join(temporary(), 'sidecar') }))).toMatchObject({ reason: 'sidecar_unusable', retryable: false, sentence: expect.stringMatching(/Reinstall/) })
  expect(await failureOf(started({ agentDir: join(temporary(), 'none') }))).toMatchObject({ code: -32602 })
  const refused = await failureOf(started({ env: { SIDECAR_MAX_CALLS: 'many' } }))
  expect(refused).toMatchObject({
    reason: 'sidecar_unusable', retryable: false, exit: { code: 2 }, detail: expect.stringMatching(/SIDECAR_MAX_CALLS must be a whole number/),
  })
})

test.skipIf(process.platform === 'win32')('the last words of a sidecar that cannot be started are one short line', async () => {
  const { detail, message } = await failureOf(started({ binary: wrapper(`printf '\\033[31mno\\007\\tway %01000d\\n' 7 >&2; exit 4`) }))
  expect(detail).toMatch(/^\[31mno way 0{200,}…$/)
  expect(detail).toHaveLength(300)
  expect(message).toBe(`runtime.handshake: the sidecar ended with exit status 4: ${detail}`)
})

test('a start with parameters that cannot be sent leaves nothing behind', async () => {
  const clock = new TestClock()
  await expect(started({ clock, homes: ['half \ud83c a pair'] })).rejects.toThrow(TypeError)
  expect(clock.pending).toBe(0)
})
