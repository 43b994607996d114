import { errorOfAnswer, retold, type SidecarError } from './errors.js'
import { readFrame, requestLine, type Frame } from './framing.js'
import { SidecarProcess } from './process.js'
import type { Clock, Progress } from './types.js'

/** How a call ended: with what it gives, or with why it gives nothing. */
export type Answer = { readonly result: unknown } | { readonly error: SidecarError }

/** A call that was sent. It is answered once, after all of its progress. */
type InFlight = {
  readonly method: string
  answered(answer: Answer): void
  progress(progress: Progress): void
}

/** What a connection tells its owner. `ended` is the last, and comes once, after every call was answered. */
export type ConnectionEvents = {
  notification(name: string, params: unknown): void
  log(line: string): void
  ended(why: SidecarError): void
}

/** From the end of the input until the process is killed: it ends by itself within seven seconds, whatever it is doing. */
const closePatience = 8_000

/** The calls in flight to one process. It keeps Node alive while there are any. */
export class Connection {
  readonly #process: SidecarProcess
  readonly #events: ConnectionEvents
  readonly #clock: Clock
  readonly #inFlight = new Map<number, InFlight>()
  #lastId = 0
  #over: SidecarError | undefined
  #closing: Promise<void> | undefined

  constructor(binary: string, env: NodeJS.ProcessEnv, clock: Clock, events: ConnectionEvents) {
    this.#events = events
    this.#clock = clock
    this.#process = new SidecarProcess(binary, env, {
      line: (line) => this.#read(line),
      log: (line) => events.log(line),
      ended: (why) => this.#end(why),
    })
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Sends a request and gives its id. The answer comes once, later; parameters that cannot be sent throw. */
  request(method: string, params: unknown, call: Omit<InFlight, 'method'>, urgent = false): number {
    const id = ++this.#lastId
    const line = requestLine(id, method, params)
    if (this.#over) {
      const error = this.#over
      queueMicrotask(() => call.answered({ error }))
      return id
    }
    this.#inFlight.set(id, { method, ...call })
    this.#hold()
    this.#process.write(id, line, urgent)
    return id
  }

  /** Takes back a request that was not sent yet, and tells whether it could. It is not answered then. */
  withdraw(id: number): boolean {
    if (!this.#process.withdraw(id)) return false
    this.forget(id)
    return true
  }

  /** Asks the sidecar to cancel a call. The call answers by itself, later. */
  cancel(id: number): void {
    this.request('rpc.cancel', { id }, { answered() {}, progress() {} }, true)
  }

  /** Waits no longer for the answer to a call. */
  forget(id: number): void {
    this.#inFlight.delete(id)
    this.#hold()
  }

  /** Ends the process in order: what is in flight is answered first. It is killed when it takes too long. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  kill(): void {
    this.#process.kill()
  }

  async #close(): Promise<void> {
    this.#hold(true)
    this.#process.endInput()
    const timer = this.#clock.after(closePatience, () => this.#process.kill())
    await this.#process.ended()
    timer.cancel()
  }

  #hold(held = this.#closing !== undefined || this.#inFlight.size > 0): void {
    if (this.#over === undefined) this.#process.hold(held)
  }

  #read(line: string): void {
    const frame = readFrame(line)
    if (frame === undefined) return this.#giveUp('wrote a line that is no JSON object')
    if (typeof frame.method === 'string') this.#tell(frame.method, frame.params ?? {})
    else if (typeof frame.id === 'number') this.#answer(frame.id, frame)
    else this.#giveUp('could not read a line that it was sent')
  }

  #tell(method: string, params: Record<string, unknown>): void {
    if (method !== 'stream') return this.#events.notification(method, params)
    const { id, ...progress } = params
    this.#inFlight.get(id as number)?.progress(progress as Progress)
  }

  #answer(id: number, frame: Frame): void {
    const call = this.#inFlight.get(id)
    if (call === undefined) return // nobody waits for it any more
    this.forget(id)
    call.answered(frame.error ? { error: errorOfAnswer(call.method, frame.error) } : { result: frame.result })
  }

  /** Ends a process that cannot be understood, so that no call waits for ever. */
  #giveUp(what: string): void {
    this.#events.log(`session-sidecar: the sidecar ${what} and is started anew`)
    this.#process.kill()
  }

  #end(why: SidecarError): void {
    this.#over = why
    const calls = [...this.#inFlight.values()]
    this.#inFlight.clear()
    for (const { method, answered } of calls) {
      answered({ error: retold(why, { message: `${method}: ${why.message}` }) })
    }
    this.#events.ended(why)
  }
}
