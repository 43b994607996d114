import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { HostEvent, Reply } from '../src/bridge.js'
import { into, type Where } from '../src/host/copies.js'
import { Host } from '../src/host/host.js'
import { invoke } from '../src/host/invoke.js'
import { kyoto, many, titles } from './support/history.js'
import { beginTurn, binary, holdWriteLock, idsIn, isAlive, newHome, runSQL, temporary, until } from './support/store.js'

/** A host over one profile, with what it tells. */
function hostOver(home: string, where: Where = async () => undefined): { host: Host; told: HostEvent[] } {
  const host = new Host({ homes: [{ key: 'p', name: 'Mine', home }], binary, where })
  onTestFinished(() => host.close())
  const told: HostEvent[] = []
  host.listen((event) => void told.push(event))
  return { host, told }
}

function valueOf<T>(reply: Reply<T>): T {
  if (!reply.ok) throw new Error(`${reply.failure.reason}: ${reply.failure.detail}`)
  return reply.value
}

const choice = (more: object = {}) => ({ mode: 'keep' as const, expectedIds: kyoto.ids, job: 'job', ...more })

describe('a delete', () => {
  test('takes the whole conversation, and can be taken back', async () => {
    const home = newHome(), { host } = hostOver(home)
    const preview = valueOf(await host.preview('p', kyoto.root, 'keep'))
    expect(preview.ids.map(({ id }) => id).sort()).toEqual(kyoto.ids)
    expect(preview.kept).toEqual([{ id: kyoto.branch, why: 'branch' }])
    const outcome = valueOf(await host.delete('p', kyoto.root, choice()))
    expect(outcome).toMatchObject({ ok: true, trash: { keep_until: expect.any(Number) }, erase: { indexes: 'not_asked' } })
    expect(idsIn(home)).not.toContain(kyoto.root)
    const { entries } = valueOf(await host.trash('p'))
    expect(entries).toMatchObject([{ operation_id: outcome.trash!.operation_id, title: kyoto.title }])
    const days = (entries[0]!.keep_until - entries[0]!.deleted_at) / 86_400
    expect(days).toBe(30)
    const { restored } = valueOf(await host.restore('p', outcome.trash!.operation_id))
    expect(Object.keys(restored).sort()).toEqual(kyoto.ids)
  })

  test('that erases leaves nothing in the trash, and says what of it is gone', async () => {
    const { host, told } = hostOver(newHome())
    const outcome = valueOf(await host.delete('p', kyoto.root, choice({ mode: 'erase' })))
    expect(outcome).toMatchObject({ ok: true, erase: { pages: 'this_delete', indexes: 'purged', wal: 'truncated' } })
    expect(outcome).not.toHaveProperty('trash')
    expect(valueOf(await host.trash('p')).entries).toEqual([])
    expect(told).toContainEqual({ kind: 'purging', job: 'job' })
    expect(told).toContainEqual({ kind: 'receipt', profile: 'p', sequence: 1 })
  })

  test('of what has grown meanwhile deletes nothing, and shows what it has become', async () => {
    const home = newHome(), { host } = hostOver(home)
    runSQL(home, `INSERT INTO sessions (id, source, parent_session_id, model_config, started_at) VALUES ('new', 'subagent', 'kyoto-2', '{"_delegate_from":"kyoto-2"}', 1);`)
    const before = idsIn(home)
    const outcome = valueOf(await host.delete('p', kyoto.root, choice()))
    expect(outcome).toMatchObject({ ok: false, failure: { reason: 'plan_changed', retryable: false, sentence: expect.stringMatching(/added to this conversation/) } })
    expect(outcome.plan!.ids.map(({ id }) => id)).toContain('new')
    expect(idsIn(home)).toEqual(before)
  })

  test('under a running turn is refused, and says by whom', async () => {
    const home = newHome(), { host } = hostOver(home)
    beginTurn(home, kyoto.root)
    const before = idsIn(home)
    expect(valueOf(await host.delete('p', kyoto.root, choice()))).toMatchObject({
      ok: false, guard: { holder: 'pid=812:turn=3', expires_at: 4_102_444_800 }, failure: { reason: 'active_turn', retryable: true },
    })
    expect(idsIn(home)).toEqual(before)
  })

  test('of many tells how far it is, and stops between two when it is cancelled', async () => {
    const home = newHome(many(60)), { host, told } = hostOver(home)
    const roots = many(60).map(({ id }) => id)
    const all = { mode: 'keep' as const, expectedIds: Object.fromEntries(roots.map((id) => [id, [id]])), job: 'all' }
    host.listen((event) => {
      if (event.kind === 'progress' && event.done === 1) void host.cancel('another').then(() => host.cancel('all'))
    })
    const { cancelled, results } = valueOf(await host.deleteMany('p', roots, all))
    const left = results.filter(({ ok }) => !ok)
    expect(cancelled).toBe(true)
    expect(left.length).toBeGreaterThan(0)
    expect(left.length).toBeLessThan(60)
    expect(left.every(({ failure }) => failure?.reason === 'cancelled')).toBe(true)
    expect(idsIn(home)).toHaveLength(left.length)
    const rest = valueOf(await host.deleteMany('p', left.map(({ session_id }) => session_id), { ...all, job: 'rest' }))
    expect(rest.results.every(({ ok }) => ok)).toBe(true)
    expect(told.filter(({ kind }) => kind === 'progress').at(-1)).toEqual({ kind: 'progress', job: 'rest', done: left.length, total: left.length })
    expect(idsIn(home)).toEqual([])
  })

  test('of many that is cancelled before the first does nothing, and no other has its name meanwhile', async () => {
    const home = newHome(), { host } = hostOver(home)
    const all = { mode: 'keep' as const, expectedIds: { tax: ['tax'] }, job: 'all' }
    const release = await holdWriteLock(home)
    const call = host.deleteMany('p', ['tax'], all)
    expect(await host.deleteMany('p', ['tax'], all)).toMatchObject({ ok: false, failure: { reason: 'invalid_call' } })
    expect(await host.cancel('all')).toEqual({ ok: true, value: null })
    expect(await call).toMatchObject({ ok: false, failure: { reason: 'cancelled' } })
    await release()
    expect(idsIn(home)).toContain('tax')
  })
})

/** A page that stays while it is answered. */
const stays = () => () => {}

describe('what a page may not send', () => {
  const cases: [string, string, unknown[]][] = [
    ['a method that is none', 'close', []],
    ['a method of every object', 'constructor', []],
    ['to listen as a call', 'listen', [() => {}]],
    ['a profile by its folder', 'trash', ['/etc']],
    ['a profile that is no text', 'trash', [{ key: 'p' }]],
    ['a root that is no text', 'preview', ['p', 7, 'keep']],
    ['an empty root', 'preview', ['p', '', 'keep']],
    ['a root without end', 'preview', ['p', 'x'.repeat(1_001), 'keep']],
    ['another mode', 'preview', ['p', kyoto.root, 'all']],
    ['a delete without what the user was shown', 'delete', ['p', kyoto.root, { mode: 'erase', job: 'j' }]],
    ['a delete with an empty list', 'delete', ['p', kyoto.root, choice({ expectedIds: [] })]],
    ['a delete with a list of something else', 'delete', ['p', kyoto.root, choice({ expectedIds: [1] })]],
    ['a delete without a job', 'delete', ['p', kyoto.root, { mode: 'erase', expectedIds: kyoto.ids }]],
    ['a delete without a choice', 'delete', ['p', kyoto.root]],
    ['many of which one was not shown', 'deleteMany', ['p', [kyoto.root, 'tax'], { mode: 'keep', expectedIds: { [kyoto.root]: kyoto.ids }, job: 'j' }]],
    ['many of which one is an inherited name', 'deleteMany', ['p', ['constructor'], { mode: 'keep', expectedIds: {}, job: 'j' }]],
    ['many without end', 'deleteMany', ['p', Array.from({ length: 10_001 }, (_, i) => `${i}`), { mode: 'keep', expectedIds: {}, job: 'j' }]],
    ['none of many', 'deleteMany', ['p', [], { mode: 'keep', expectedIds: {}, job: 'j' }]],
    ['a page of millions', 'conversations', ['p', { limit: 1_000_000 }]],
    ['a query without end', 'conversations', ['p', { query: 'x'.repeat(1_001) }]],
    ['no page', 'conversations', ['p', null]],
    ['a receipt before the first', 'forgetReceipts', ['p', 0]],
    ['a fraction', 'receipts', ['p', 0.5]],
    ['an operation that is no list', 'purge', ['p', 'all']],
    ['more than any method takes', 'trash', ['p', 1, 2, 3]],
    ['parameters that are no list', 'trash', { 0: 'p' } as never],
  ]
  test('is refused, and nothing is done', async () => {
    const home = newHome(), before = idsIn(home)
    const { host } = hostOver(home, () => { throw new Error('nobody is asked') })
    for (const [what, method, parameters] of cases) {
      expect(await invoke(host, method, parameters, stays), what).toMatchObject({ ok: false, failure: { reason: 'invalid_call' } })
    }
    expect(idsIn(home)).toEqual(before)
    expect(await invoke(host, 'profiles', [], stays)).toEqual({ ok: true, value: [{ key: 'p', name: 'Mine' }] })
  })
})

describe('no folder is told', () => {
  test('by a failure', async () => {
    const home = newHome(), { host } = hostOver(home)
    rmSync(join(home, 'state.db'))
    const reply = await host.conversations('p', {})
    expect(reply).toMatchObject({ ok: false, failure: { reason: 'store_missing' } })
    expect(JSON.stringify(reply)).not.toContain(home)
  })

  test('by receipts and the state of the clean-up', async () => {
    const home = newHome(), { host } = hostOver(home)
    writeFileSync(join(home, 'sessions', 'tax.json'), 'x')
    mkdirSync(join(home, 'sessions', 'tax.jsonl', 'inside'), { recursive: true })
    const outcome = valueOf(await host.delete('p', 'tax', choice({ expectedIds: ['tax'] })))
    expect(outcome).toMatchObject({ ok: false, deleted_ids: ['tax'], failure: { reason: 'cleanup_pending' }, trash: {} })
    const receipts = valueOf(await host.receipts('p', 0)), state = valueOf(await host.cleanup('p'))
    expect(receipts.receipts[0]!.deletion).toMatchObject({ operation_id: outcome.receipt })
    expect(state).toMatchObject({ watched: true, cleanup: { pending: [{ session_id: 'tax', cause: 'artifact_stuck' }] } })
    expect(JSON.stringify([outcome, receipts, state])).not.toContain(home)
    rmSync(join(home, 'sessions', 'tax.jsonl'), { recursive: true })
    expect(valueOf(await host.cleanNow('p')).cleanup).toMatchObject({ complete: true, pending: [] })
    expect(valueOf(await host.forgetReceipts('p', 1))).toEqual({ removed: 1 })
  })
})

describe('a copy', () => {
  test('is written where the user wants it, under a new name each', async () => {
    const copies = temporary(), { host } = hostOver(newHome(), into(copies))
    expect(valueOf(await host.saveCopy('p', kyoto.root, '../../Kyōto: a/b\u202e.json'))).toMatchObject({ name: '-..-Kyōto- a-b.json', bytes: expect.any(Number) })
    expect(valueOf(await host.saveCopy('p', kyoto.root, '../../Kyōto: a/b')).name).toBe('-..-Kyōto- a-b (2).json')
    expect(valueOf(await host.saveCopy('p', kyoto.root, 'con')).name).toBe('conversation con.json')
    expect(valueOf(await host.saveCopy('p', kyoto.root, ' .. ')).name).toBe('conversation.json')
    expect(readdirSync(copies)).toHaveLength(4)
    expect(readFileSync(join(copies, 'conversation.json'), 'utf8')).toContain('Arashiyama')
  })

  test('that nobody wants after all is not written', async () => {
    const { host } = hostOver(newHome())
    expect(valueOf(await host.saveCopy('p', kyoto.root, titles.kyoto))).toEqual({ name: null })
  })

  test('takes the place of an older one that the user gave up, whole or not at all', async () => {
    const home = newHome(), copies = temporary(), path = join(copies, 'copy.json')
    writeFileSync(path, 'old')
    const { host } = hostOver(home, async () => path)
    expect(await host.saveCopy('p', 'not there', 'x')).toMatchObject({ ok: false })
    expect(readFileSync(path, 'utf8')).toBe('old')
    expect(valueOf(await host.saveCopy('p', kyoto.root, 'x')).name).toBe('copy.json')
    expect(readFileSync(path, 'utf8')).toContain('Arashiyama')
    expect(readdirSync(copies)).toEqual(['copy.json'])
  })

  test('never takes the place of what is no copy', async () => {
    const home = newHome(), folder = temporary(), notes = join(folder, 'notes.txt')
    writeFileSync(notes, 'mine')
    mkdirSync(join(folder, 'a.json'))
    for (const taken of [notes, join(folder, 'a.json'), join(home, 'state.db')]) {
      const { host } = hostOver(home, async () => taken)
      expect(await host.saveCopy('p', kyoto.root, 'x'), taken).toMatchObject({ ok: false, failure: { reason: 'invalid_call' } })
    }
    expect(readFileSync(notes, 'utf8')).toBe('mine')
    expect(readdirSync(folder).sort()).toEqual(['a.json', 'notes.txt'])
    expect(idsIn(home)).toContain(kyoto.root)
  })
})

describe('the sidecar', () => {
  test('that is killed is started again, and both are told', async () => {
    const home = newHome(), { host, told } = hostOver(home)
    const pid = (await host.pid())!
    const release = await holdWriteLock(home)
    const call = host.delete('p', kyoto.root, choice())
    await until('it is under way', async () => valueOf(await host.conversations('p', {})).conversations.length > 0)
    process.kill(pid, 'SIGKILL')
    expect(await call).toMatchObject({ ok: false, failure: { reason: 'sidecar_exited', retryable: true, sentence: expect.stringMatching(/has stopped/) } })
    await release()
    await until('it runs again', () => told.filter((event) => event.kind === 'sidecar').length >= 3)
    expect(told.filter((event) => event.kind === 'sidecar')).toEqual([
      { kind: 'sidecar', state: 'running' },
      { kind: 'sidecar', state: 'restarting', sentence: expect.stringMatching(/has stopped/) },
      { kind: 'sidecar', state: 'running' },
    ])
    expect(valueOf(await host.delete('p', kyoto.root, choice())).ok).toBe(true)
  })

  test('that cannot be started is said to be so, by each call', async () => {
    const host = new Host({ homes: [{ key: 'p', name: 'Mine', home: newHome() }], binary: join(temporary(), 'none'), where: async () => undefined })
    onTestFinished(() => host.close())
    expect(await host.conversations('p', {})).toMatchObject({ ok: false, failure: { reason: 'sidecar_unusable', sentence: expect.stringMatching(/Reinstall/) } })
    const told: HostEvent[] = []
    host.listen((event) => void told.push(event))
    expect(told).toEqual([{ kind: 'sidecar', state: 'failed', sentence: expect.stringMatching(/Reinstall/) }])
  })

  test('ends with its host', async () => {
    const { host } = hostOver(newHome())
    const pid = (await host.pid())!
    await host.close()
    expect(isAlive(pid)).toBe(false)
    expect(await host.trash('p')).toMatchObject({ ok: false, failure: { reason: 'sidecar_closed' } })
  })

  test('stops between two of many when its host ends', async () => {
    const home = newHome(many(60)), { host } = hostOver(home)
    const roots = many(60).map(({ id }) => id)
    let closing: Promise<void> | undefined
    host.listen((event) => {
      if (event.kind === 'progress') closing ??= host.close()
    })
    const reply = await host.deleteMany('p', roots, { mode: 'keep', expectedIds: Object.fromEntries(roots.map((id) => [id, [id]])), job: 'all' })
    const { cancelled, results } = valueOf(reply)
    expect(cancelled).toBe(true)
    await closing
    expect(idsIn(home)).toHaveLength(results.filter(({ ok }) => !ok).length)
  })

  test('tells of what it has cleaned up unasked', async () => {
    const home = newHome(), { host, told } = hostOver(home)
    mkdirSync(join(home, 'sessions', 'tax.jsonl', 'inside'), { recursive: true })
    valueOf(await host.delete('p', 'tax', choice({ expectedIds: ['tax'] })))
    expect(valueOf(await host.cleanup('p')).cleanup!.pending).toHaveLength(1)
    renameSync(join(home, 'sessions', 'tax.jsonl'), join(home, 'away'))
    await until('it is told', () => told.some((event) => event.kind === 'cleanup' && event.profile === 'p' && event.pending.length === 0))
  })
})
