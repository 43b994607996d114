import { Backoff } from './backoff.js'
import { findBinary } from './binary.js'
import { busyDelay, busyPatience } from './busy.js'
import { systemClock } from './clock.js'
import { Connection } from './connection.js'
import { retold, SidecarError } from './errors.js'
import { Limit, requireTimeout } from './limit.js'
import { guarded, Listeners } from './listeners.js'
import { methodNames, type MethodGroups, type RuntimeHandshakeResult } from './methods.generated.js'
import { callOf, ProgressFeed } from './progress.js'
import { request } from './request.js'
import type { Call, CallArguments, CallOptions, Clock, Events, MethodName, Progress, Result, SidecarEvents, StartOptions } from './types.js'

/** The version of the protocol that this client speaks. */
const rpcVersion = 1

/** How long a new process may take to answer the handshake. It takes milliseconds, where nothing scans programs as they start. */
const startPatience = 20_000

/** A start that is awaited: by the calls that were made meanwhile, too. */
type Start = {
  readonly done: Promise<void>
  resolve(): void
  reject(error: SidecarError): void
}

/**
 * Starts a sidecar and introduces the app to it. Where that is not possible it fails with a SidecarError and leaves no process: reason
 * `sidecar_unusable` (no program, or one that ends or does not answer), `sidecar_rpc_version_mismatch` or `invalid_call`. A TypeError is
 * a mistake in the options: a time limit that is none, or text that no line of JSON can carry.
 */
export async function start(options: StartOptions = {}): Promise<Sidecar> {
  requireTimeout(options.timeout)
  const sidecar = new Sidecar(options)
  await sidecar.ready()
  return sidecar
}

export interface Sidecar extends MethodGroups {}

/**
 * A running sidecar. Its methods are grouped as the sidecar names them: `sidecar.state_db.delete_cli_session(params)`. When the
 * process ends unasked it is started again, and what was in flight fails with `sidecar_exited`.
 */
export class Sidecar {
  readonly #options: StartOptions
  readonly #clock: Clock
  readonly #listeners = new Listeners()
  readonly #backoff = new Backoff()
  #connection: Connection | undefined // that of the newest process, introduced or not
  #start: Start
  #restart: ReturnType<Clock['after']> | undefined // until the next process is started
  #waiting = 0 // calls that wait for the start
  #startedAt = 0
  #ready = false
  #failed: SidecarError | undefined
  #closing: Promise<void> | undefined
  #handshake: RuntimeHandshakeResult | undefined

  /** Use `start`. */
  constructor(options: StartOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    for (const name of methodNames) this.#addMethod(name)
    this.#start = newStart()
    void this.#launch()
  }

  /** What the sidecar said of itself when it was started last: its version and capabilities. */
  get handshake(): RuntimeHandshakeResult {
    return this.#handshake!
  }

  /** The process that runs now; undefined while there is none. */
  get pid(): number | undefined {
    return this.#ready ? this.#connection?.pid : undefined
  }

  /** Waits for the start that is under way, and fails as that does. Where none is, it resolves at once. */
  async ready(): Promise<void> {
    await this.#start.done
  }

  /**
   * Makes a call by the method's name; the grouped methods do the same. It fails with a SidecarError, never with anything else once it
   * was sent. A TypeError is a mistake in what was given: parameters that no line of JSON can carry, or a time limit that is none.
   * What a delete or a preview refuses is no failure: see `refusal`.
   */
  call<M extends MethodName>(method: M, ...[params, options]: CallArguments<M>): Call<Result<M>, Progress<Events<M>>> {
    const feed = new ProgressFeed(options?.onProgress as CallOptions['onProgress'])
    const result = this.#call(method, params ?? {}, (options ?? {}) as CallOptions, feed)
    return callOf(result as Promise<Result<M>>, feed)
  }

  /** Listens to what the sidecar tells unasked, and to what becomes of its process. Call what it gives to stop listening. */
  on<N extends keyof SidecarEvents>(name: N, listener: (value: SidecarEvents[N]) => void): () => void {
    return this.#listeners.on(name, listener)
  }

  /**
   * Ends the sidecar in order: calls in flight are answered, and those that are still blocked after five seconds are cancelled. Calls
   * that wait for a start or for room in a busy sidecar fail with `sidecar_closed`, as new ones do. It resolves when the process is
   * gone, and kills it after eight seconds.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#restart?.cancel()
    if (!this.#ready) this.#start.reject(closed())
    await this.#connection?.close()
  }

  #addMethod(name: MethodName): void {
    const [group, method] = name.split('.') as [string, string]
    const groups = this as unknown as Record<string, Record<string, unknown>>
    groups[group] ??= {}
    groups[group][method] = (params: never, options?: CallOptions) => this.call(name, params, options as never)
  }

  async #call(method: string, params: unknown, options: CallOptions, feed: ProgressFeed): Promise<unknown> {
    const limit = new Limit(method, { signal: options.signal, timeout: options.timeout ?? this.#options.timeout })
    try {
      const patienceEnds = this.#clock.now() + busyPatience
      for (let busy = 0; ; ) {
        // Nothing is awaited between these questions and the request: `close` lets finish what was asked before it.
        if (this.#failed) throw this.#failed
        if (this.#closing) throw closed()
        if (limit.error) throw limit.error
        if (!this.#ready) {
          await this.#waitForStart(limit)
          continue
        }
        const answer = await request(this.#connection!, this.#clock, method, params, limit, feed)
        if ('result' in answer) {
          if (method === 'runtime.shutdown') void this.close()
          return answer.result
        }
        if (answer.error.condition !== 'sidecar_busy' || this.#clock.now() > patienceEnds) throw answer.error
        await limit.within(new Promise<void>((resolve) => { this.#clock.after(busyDelay(busy++), resolve) }))
      }
    } finally {
      limit.end()
    }
  }

  /** Waits for the start that is under way, which then keeps Node alive. */
  async #waitForStart(limit: Limit): Promise<void> {
    this.#restart?.hold(++this.#waiting > 0)
    try {
      await limit.within(this.#start.done)
    } finally {
      this.#restart?.hold(--this.#waiting > 0)
    }
  }

  /** Starts a process and introduces the app. What it comes to is told to those who wait for `#start`. */
  async #launch(): Promise<void> {
    const first = this.#handshake === undefined
    const begun = this.#start
    let connection: Connection | undefined
    try {
      connection = this.#spawn()
      const handshake = await this.#introduce(connection)
      if (this.#closing) return // who waited was told
      this.#handshake = handshake
      this.#ready = true
      this.#startedAt = this.#clock.now()
      begun.resolve()
      if (!first) this.#listeners.tell('restart', handshake)
    } catch (cause) {
      await connection?.close()
      this.#notStarted(first ? atFirst(cause as SidecarError) : (cause as SidecarError), first)
    }
  }

  #notStarted(error: SidecarError, first: boolean): void {
    if (this.#closing) return
    const begun = this.#start
    if (first || isFinal(error)) this.#failed = error
    else this.#startAgain(0)
    begun.reject(error)
    if (this.#failed) this.#listeners.tell('failed', error)
    else this.#listeners.tell('retry', error)
  }

  #spawn(): Connection {
    const binary = findBinary(this.#options.binary)
    const connection: Connection = new Connection(binary, { ...process.env, ...this.#options.env }, this.#clock, {
      notification: (name, params) => this.#listeners.tell(name as keyof SidecarEvents, params as never),
      log: (line) => this.#options.logger && guarded(this.#options.logger, line),
      ended: (why) => {
        if (this.#ready && connection === this.#connection) this.#ended(why)
      },
    })
    this.#connection = connection
    return connection
  }

  async #introduce(connection: Connection): Promise<RuntimeHandshakeResult> {
    const { homes, agentDir, baseHome } = this.#options
    const params = { rpc_version: rpcVersion, agent_dir: agentDir, base_home: baseHome, watch: homes }
    let timer: ReturnType<Clock['after']> | undefined
    try {
      return await new Promise((resolve, reject) => {
        timer = this.#clock.after(startPatience, () => {
          reject(new SidecarError('sidecar_unusable', `the sidecar did not answer within ${startPatience / 1000} s after its start`))
          connection.kill()
        })
        connection.request('runtime.handshake', params, {
          answered(answer) {
            if ('result' in answer) resolve(answer.result as RuntimeHandshakeResult)
            else reject(answer.error)
          },
          progress() {},
        })
      })
    } finally {
      timer?.cancel()
    }
  }

  /** The process has ended after it took calls. Whoever listens finds a client that has made up its mind already. */
  #ended(why: SidecarError): void {
    this.#ready = false
    if (this.#closing) return
    if (isFinal(why)) this.#failed = why
    else this.#startAgain(this.#clock.now() - this.#startedAt)
    if (why.exit) this.#listeners.tell('exit', why.exit)
    if (this.#failed) this.#listeners.tell('failed', this.#failed)
  }

  #startAgain(lived: number): void {
    this.#start = newStart()
    this.#restart = this.#clock.after(this.#backoff.delayAfter(lived), () => {
      this.#restart = undefined
      void this.#launch()
    })
    this.#restart.hold(this.#waiting > 0)
  }
}

function newStart(): Start {
  let resolve!: Start['resolve'], reject!: Start['reject']
  const done = new Promise<void>((succeed, fail) => { resolve = succeed; reject = fail })
  done.catch(() => {}) // there may be nobody who waits
  return { done, resolve, reject }
}

/** The error of a first start: a program that ends before it takes calls will do so again. */
const atFirst = (error: SidecarError) => (error.reason === 'sidecar_exited'
  ? retold(error, { reason: 'sidecar_unusable' })
  : error)

/** Whether a sidecar that ended so would end the same way again. */
const isFinal = (error: SidecarError) => error.reason === 'sidecar_rpc_version_mismatch'

const closed = () => new SidecarError('sidecar_closed', 'the sidecar was closed')
