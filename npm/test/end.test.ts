import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { start, type Exit, type SidecarError } from 'session-sidecar'
import { startPatience, TestClock } from './support/clock.js'
import { binary, failureOf, holdWriteLock, isAlive, newHome, processState, started, until, wrapper } from './support/world.js'

const onLinux = process.platform === 'linux'
const onWindows = process.platform === 'win32'

describe('a sidecar that is killed', () => {
  test('fails what is in flight within 100 ms of its exit', async () => {
    const home = newHome(), sidecar = await started({ clock: new TestClock() })
    await holdWriteLock(home)
    const calls = Array.from({ length: 10 }, (_, i) => failureOf(sidecar.state_db.delete_cli_session({ profile_home: home, session_id: `session-${i}` })))
    await until('they are in flight', async () => (await sidecar.runtime.status()).calls.in_flight > 10)
    const pid = sidecar.pid!
    const failed = Promise.all(calls).then((errors) => ({ errors, at: performance.now() }))
    process.kill(pid, 'SIGKILL')
    // The kernel shows the process as ended until Node has looked: that instant counts.
    while (onLinux && !['Z', undefined].includes(processState(pid))) await new Promise(setImmediate)
    const ended = performance.now()
    const { errors, at } = await failed
    expect(at - ended).toBeLessThan(100)
    for (const error of errors) {
      expect(error).toMatchObject({ reason: 'sidecar_exited', retryable: true, code: undefined, sentence: expect.stringMatching(/has stopped. Try again/) })
      if (!onWindows) expect(error.exit).toEqual({ code: null, signal: 'SIGKILL' })
    }
    expect(errors[0]!.message).toMatch(/^state_db\.delete_cli_session: the sidecar ended/)
  })

  test.skipIf(onWindows)('fails what is in flight, whoever holds its pipes, and leaves none of them open', async () => {
    const holder = wrapper('sleep 60 & echo $! >"$0.pid"; exec "$SIDECAR"')
    const home = newHome(), sidecar = await started({ clock: new TestClock(), binary: holder })
    onTestFinished(() => void process.kill(Number(readFileSync(`${holder}.pid`, 'utf8'))))
    await holdWriteLock(home)
    const before = descriptors()
    const call = failureOf(sidecar.state_db.delete_cli_session({ profile_home: home, session_id: 'session-0' }))
    await until('it is in flight', async () => (await sidecar.runtime.status()).calls.in_flight === 2)
    process.kill(sidecar.pid!, 'SIGKILL')
    const ended = performance.now()
    expect((await call).reason).toBe('sidecar_exited')
    expect(performance.now() - ended).toBeLessThan(5_000)
    expect(before - descriptors()).toBe(onLinux ? 3 : 0)
  })

  test('is started again after 1 s, doubling to 30 s, and after 1 s once it lived for a minute', async () => {
    const clock = new TestClock(), sidecar = await started({ clock })
    const exits: Exit[] = []
    let restarts = 0
    sidecar.on('exit', (exit) => exits.push(exit))
    sidecar.on('restart', () => restarts++)
    const killed = async (lived: number) => {
      const before = restarts
      clock.advance(lived)
      process.kill(sidecar.pid!, 'SIGKILL')
      await until('its end is seen', () => exits.length === before + 1)
      clock.advance(clock.asked.at(-1)!)
      await until('it runs again', () => restarts === before + 1)
    }
    for (let i = 0; i < 7; i++) await killed(59_000)
    await killed(60_000)
    await killed(0)
    expect(clock.asked).toEqual([1000, 2000, 4000, 8000, 16000, 30000, 30000, 1000, 2000])
    expect(await sidecar.rpc.methods()).toHaveProperty('methods')
  })

  test('takes the calls that were made meanwhile once it runs again', async () => {
    const home = newHome(), clock = new TestClock(), sidecar = await started({ clock, homes: [home] })
    const pid = sidecar.pid!
    process.kill(pid, 'SIGKILL')
    await until('its end is seen', () => clock.asked.length === 1)
    expect(sidecar.pid).toBeUndefined()
    const abort = new AbortController()
    const call = sidecar.state_db.delete_cli_session({ profile_home: home, session_id: 'session-0' })
    const givenUp = failureOf(sidecar.rpc.methods(undefined, { signal: abort.signal }))
    abort.abort()
    expect((await givenUp).reason).toBe('cancelled')
    clock.advance(1000)
    expect((await call).ok).toBe(true)
    expect(sidecar.pid).not.toBe(pid)
    expect((await sidecar.runtime.status()).watched).toHaveLength(1)
  })

  test.skipIf(onWindows)('and cannot be started is tried again, and whoever waits is told', async () => {
    const clock = new TestClock()
    const broken = wrapper('if [ -e "$0.broken" ]; then exit 1; fi; exec "$SIDECAR"')
    const sidecar = await started({ clock, binary: broken })
    const retries: SidecarError[] = []
    sidecar.on('retry', (error) => retries.push(error))
    writeFileSync(`${broken}.broken`, '')
    process.kill(sidecar.pid!, 'SIGKILL')
    await until('its end is seen', () => clock.asked.length === 1)
    const call = failureOf(sidecar.rpc.methods())
    clock.advance(1000)
    expect(await call).toMatchObject({ reason: 'sidecar_exited', exit: { code: 1 } })
    await until('the next attempt is planned', () => retries.length === 1)
    rmSync(`${broken}.broken`)
    const next = sidecar.rpc.methods()
    clock.advance(2000)
    expect(await next).toHaveProperty('methods')
    expect(clock.asked.slice(0, 3)).toContain(2000)
  })

  test.skipIf(onWindows)('is not started again after exit status 3', async () => {
    const sidecar = await started({ binary: wrapper('"$SIDECAR"; exit 3') })
    const failed: SidecarError[] = []
    sidecar.on('failed', (error) => failed.push(error))
    process.kill(sidecar.handshake.pid, 'SIGKILL')
    await until('it has failed', () => failed.length === 1)
    expect(failed[0]).toMatchObject({ reason: 'sidecar_rpc_version_mismatch', retryable: false, exit: { code: 3, signal: null } })
    expect(await failureOf(sidecar.rpc.methods())).toBe(failed[0])
  })

  test.skipIf(onWindows)('and speaks another version is not started at all', async () => {
    const other = wrapper('exec 3>&1; { sed -u \'s/"rpc_version":1/"rpc_version":2/\' | { "$SIDECAR" >&3; echo $? >"$0.status"; }; } ; exit "$(cat "$0.status")"')
    expect(await failureOf(start({ binary: other }))).toMatchObject({
      code: -32000, condition: 'sidecar_rpc_version_mismatch', retryable: false,
      sentence: 'The app and its sidecar are of different versions. Reinstall or update the app.',
    })
  })
})

test.skipIf(onWindows)('a sidecar that does not answer is not waited for', async () => {
  const clock = new TestClock(), silent = wrapper('echo $$ >"$0.pid"; exec sleep 1000')
  const failed = failureOf(start({ binary: silent, clock }))
  await until('it has begun', () => existsSync(`${silent}.pid`) && readFileSync(`${silent}.pid`, 'utf8').endsWith('\n'))
  clock.advance(startPatience)
  expect(await failed).toMatchObject({ reason: 'sidecar_unusable', message: 'the sidecar did not answer within 20 s after its start' })
  expect(isAlive(Number(readFileSync(`${silent}.pid`, 'utf8')))).toBe(false)
})

describe('close', () => {
  test('lets what is in flight finish, and takes nothing new', async () => {
    const home = newHome(), sidecar = await started(), pid = sidecar.pid!
    const call = sidecar.state_db.delete_cli_session({ profile_home: home, session_id: 'session-0' })
    const told: string[] = []
    for (const name of ['exit', 'retry', 'failed'] as const) sidecar.on(name, () => told.push(name))
    const closing = sidecar.close()
    expect(await failureOf(sidecar.rpc.methods())).toMatchObject({ reason: 'sidecar_closed', retryable: false })
    expect((await call).ok).toBe(true)
    await closing
    expect(sidecar.close()).toBe(closing)
    expect(isAlive(pid)).toBe(false)
    expect(told).toEqual([])
  })

  test('with many calls in flight and waiting warns of nothing, and answers each', async () => {
    const home = newHome(), sidecar = await started({ env: { SIDECAR_MAX_CALLS: '20' } }), warnings: Error[] = []
    const warned = (warning: Error) => void warnings.push(warning)
    process.on('warning', warned)
    onTestFinished(() => void process.off('warning', warned))
    const release = await holdWriteLock(home)
    const calls = Array.from({ length: 40 }, (_, i) => sidecar.state_db.delete_cli_session({ profile_home: home, session_id: `session-${i % 3}` })
      .then(({ ok }) => ok, (error: SidecarError) => error.reason))
    await until('there is no room', () => sidecar.runtime.status(undefined, { timeout: 200 }).then(() => false, ({ reason }) => reason === 'timed_out'))
    const closing = sidecar.close()
    await release()
    const outcomes = await Promise.all(calls)
    await closing
    expect(outcomes.filter((outcome) => outcome === true)).toHaveLength(20)
    expect(outcomes.filter((outcome) => outcome === 'sidecar_closed')).toHaveLength(20)
    await new Promise(setImmediate)
    expect(warnings).toEqual([])
  })

  test.skipIf(onWindows)('kills after eight seconds', async () => {
    const clock = new TestClock(), sidecar = await started({ clock }), pid = sidecar.pid!
    process.kill(pid, 'SIGSTOP')
    let closed = false
    const closing = sidecar.close().then(() => { closed = true })
    await until('it waits', () => clock.asked.length === 1)
    clock.advance(7_999)
    await new Promise(setImmediate)
    expect([clock.asked, closed, isAlive(pid)]).toEqual([[8000], false, true])
    clock.advance(1)
    await closing
    expect(isAlive(pid)).toBe(false)
  })

  test('while it waits for a restart is at once', async () => {
    const clock = new TestClock(), sidecar = await started({ clock })
    process.kill(sidecar.pid!, 'SIGKILL')
    await until('its end is seen', () => clock.asked.length === 1)
    const call = failureOf(sidecar.rpc.methods())
    await sidecar.close()
    expect((await call).reason).toBe('sidecar_closed')
  })

  test('is what runtime.shutdown comes to', async () => {
    const sidecar = await started(), pid = sidecar.pid!
    expect(await sidecar.runtime.shutdown()).toEqual({ ok: true })
    await sidecar.close()
    expect(isAlive(pid)).toBe(false)
  })

  test('a hundred times leaves no process, handle or descriptor behind', async () => {
    await cycle() // what Node makes once and keeps
    const before = await left()
    const pids: number[] = []
    for (let i = 0; i < 100; i++) pids.push(await cycle())
    expect(await left()).toEqual(before)
    expect(pids.filter(isAlive)).toEqual([])
  })
})

async function cycle(): Promise<number> {
  const sidecar = await start({ ...(binary && { binary }) }), pid = sidecar.pid!
  await sidecar.rpc.methods()
  await sidecar.close()
  return pid
}

/**
 * What this process holds: descriptors, where the system shows them, and what keeps its loop going. Node closes the handle of an
 * ended process a moment after it has told of its end; one that it never closed would be found here all the same.
 */
async function left() {
  await until('no process is held', () => !resources().includes('ProcessWrap'))
  return { descriptors: descriptors(), resources: resources() }
}

const descriptors = () => (onLinux ? readdirSync('/proc/self/fd').length : 0)

// Node has had it since 17.3; its types for 18 do not.
const resources = () => (process as unknown as { getActiveResourcesInfo(): string[] }).getActiveResourcesInfo()
  .filter((name) => !['Timeout', 'Immediate'].includes(name)).sort()

describe('a host', () => {
  test('that has nothing more to do ends by itself, and the sidecar with it', async () => {
    const { child, pid } = await host('')
    expect(await once(child, 'exit')).toEqual([0, null])
    await until('the sidecar is gone', () => !isAlive(pid))
  })

  test('is kept alive by a call in flight', async () => {
    const { child, output } = await host('const methods = sidecar.rpc.methods(); process.on("exit", () => console.log(answered)); let answered = "no"; methods.then(() => { answered = "answered" })')
    expect(await once(child, 'exit')).toEqual([0, null])
    await until('it has said so', () => output.text.includes('answered'))
  })

  test('is kept alive by a call that waits for a restart', async () => {
    const { child, output } = await host(killed('sidecar.rpc.methods().then(() => console.log("answered"))'))
    expect(await once(child, 'exit')).toEqual([0, null])
    await until('it has said so', () => output.text.includes('answered'))
  })

  test('is not kept alive by a restart that nobody waits for', async () => {
    const { child, output } = await host(killed('sidecar.on("restart", () => console.log("restarted"))'))
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(output.text).not.toContain('restarted')
  })

  test('that is killed leaves no orphan', async () => {
    const home = newHome()
    const { child, pid } = await host(`setInterval(() => {}, 1000); sidecar.state_db.list_conversations({ profile_home: ${JSON.stringify(home)} })`)
    expect(isAlive(pid)).toBe(true)
    child.kill('SIGKILL')
    await until('the sidecar is gone', () => !isAlive(pid))
  })
})

/** Code that kills the sidecar, and runs more once its end was seen. */
const killed = (more: string) => `const timer = setInterval(() => {}, 1000); sidecar.on('exit', () => { clearInterval(timer); ${more} }); process.kill(sidecar.pid, 'SIGKILL')`

/** A Node process of its own that starts a sidecar and then runs some code. */
async function host(code: string) {
  const script = `import { start } from 'session-sidecar'; const sidecar = await start(${JSON.stringify(binary ? { binary } : {})}); console.log(sidecar.pid); ${code}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: fileURLToPath(new URL('.', import.meta.url)), stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const output = { text: '' }
  child.stdout.on('data', (piece) => { output.text += piece })
  await until('it has told the pid', () => output.text.includes('\n'))
  return { child, output, pid: Number.parseInt(output.text) }
}
