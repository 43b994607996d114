import { spawn, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { SidecarError, type Exit } from './errors.js'
import { LineSplitter } from './framing.js'

/** What a process tells its owner. `ended` is the last, and comes once. */
export type ProcessEvents = {
  line(line: string): void
  log(line: string): void
  ended(why: SidecarError): void
}

/** The exit status of a sidecar that speaks another version of the protocol: it would end the same way again. */
const exitWrongVersion = 3

/** After a process's exit, how long its pipes may stay open, in milliseconds: somebody else may hold them, and no call waits for that. */
const pipePatience = 25

type Line = { readonly id: number; readonly bytes: Buffer }

/** One sidecar process and its three pipes. */
export class SidecarProcess {
  readonly #child: ChildProcess
  readonly #events: ProcessEvents
  readonly #waiting: Line[] = []
  readonly #ended: Promise<void>
  #markEnded!: () => void
  #full = false
  #held = true // as every new process is
  #inputEnds = false
  #exit: Exit | undefined
  #failure: Error | undefined
  #over = false
  #pipeTimer: NodeJS.Timeout | undefined
  #lastLog = ''

  constructor(binary: string, env: NodeJS.ProcessEnv, events: ProcessEvents) {
    this.#events = events
    this.#ended = new Promise((resolve) => { this.#markEnded = resolve })
    this.#child = spawn(binary, [], { stdio: 'pipe', windowsHide: true, env })
    this.#read()
    this.#child.on('error', (error) => {
      this.#failure ??= error
      if (this.#child.pid === undefined) this.#end()
    })
    this.#child.on('exit', (code, signal) => {
      this.#exit = { code, signal }
      this.#pipeTimer = setTimeout(() => this.#end(), pipePatience)
    })
    this.#child.on('close', () => this.#end())
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** How many bytes are kept for a process that does not read. */
  get unwritten(): number {
    return this.#child.stdin?.writableLength ?? 0
  }

  /** Writes a line as soon as the process reads; an urgent one before those that still wait. */
  write(id: number, bytes: Buffer, urgent = false): void {
    if (urgent) this.#waiting.unshift({ id, bytes })
    else this.#waiting.push({ id, bytes })
    this.#flush()
  }

  /** Takes back a line that was not written yet, and tells whether it could. */
  withdraw(id: number): boolean {
    const at = this.#waiting.findIndex((line) => line.id === id)
    if (at < 0) return false
    this.#waiting.splice(at, 1)
    return true
  }

  /** Ends the input once everything is written; the process then answers what is in flight and ends. */
  endInput(): void {
    this.#inputEnds = true
    this.#flush()
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** Resolves when the process has ended. */
  ended(): Promise<void> {
    return this.#ended
  }

  /** Whether this process keeps Node alive. */
  hold(held: boolean): void {
    if (held === this.#held) return
    this.#held = held
    const { stdin, stdout, stderr } = this.#child
    // A pipe that is gone would wait with a listener for a handle that never comes.
    const pipes = [stdin, stdout, stderr].filter((pipe) => pipe && !pipe.destroyed) as Socket[]
    for (const handle of [this.#child, ...pipes]) {
      if (held) handle.ref()
      else handle.unref()
    }
  }

  #flush(): void {
    const { stdin } = this.#child
    if (!stdin) return
    while (!this.#full && this.#waiting.length > 0) {
      this.#full = !stdin.write(this.#waiting.shift()!.bytes)
    }
    if (this.#inputEnds && this.#waiting.length === 0) stdin.end()
  }

  #read(): void {
    const { stdin, stdout, stderr } = this.#child
    if (!stdin || !stdout || !stderr) return // no descriptors were left: the error event says so
    stdin.on('drain', () => {
      this.#full = false
      this.#flush()
    })
    stdin.on('error', () => {}) // the process is ending: its exit tells why
    const frames = new LineSplitter()
    stdout.on('data', (piece: Buffer) => frames.push(piece).forEach((line) => this.#events.line(line)))
    const log = new LineSplitter()
    stderr.on('data', (piece: Buffer) => {
      for (const line of log.push(piece)) {
        this.#lastLog = line
        this.#events.log(line)
      }
    })
  }

  #end(): void {
    if (this.#over) return
    this.#over = true
    const { stdin, stdout, stderr } = this.#child
    clearTimeout(this.#pipeTimer)
    for (const stream of [stdin, stdout, stderr]) stream?.destroy()
    this.#events.ended(this.#why())
    this.#markEnded()
  }

  #why(): SidecarError {
    if (this.#exit === undefined) {
      return new SidecarError('sidecar_unusable', `the sidecar cannot be started: ${this.#failure?.message}`, { cause: this.#failure })
    }
    const { code, signal } = this.#exit
    const how = signal === null ? `with exit status ${code}` : `by ${signal}`
    // A line that is no JSON is what a person would read in a terminal: why it did not even start.
    const said = code !== 0 && this.#lastLog !== '' && !this.#lastLog.startsWith('{') ? oneLine(this.#lastLog) : undefined
    const reason = code === exitWrongVersion ? 'sidecar_rpc_version_mismatch' : 'sidecar_exited'
    return new SidecarError(reason, `the sidecar ended ${how}${said === undefined ? '' : `: ${said}`}`, { exit: this.#exit, detail: said })
  }
}

/** How many characters of a program's last words go into an error. */
const longestDetail = 300

/** Text that anything may have written as one line that can be shown anywhere. */
function oneLine(text: string): string {
  const characters = [...text.slice(0, 4 * longestDetail).replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').trim()]
  return characters.length <= longestDetail ? characters.join('') : `${characters.slice(0, longestDetail - 1).join('')}…`
}
