import type { Exit, SidecarError } from './errors.js'
import type { Methods, Notifications, RuntimeHandshakeResult } from './methods.generated.js'

/** An event of a call: its name, and what it tells. The name decides which data there are. */
export type CallEvent = { event: string; data: Record<string, unknown> }

/** What a call reports on its way. `seq` counts from 1 in each call. */
export type Progress<E extends CallEvent = CallEvent> = E extends CallEvent
  ? { readonly seq: number; readonly event: E['event']; readonly data: Readonly<E['data']> }
  : never

export type CallOptions<E extends CallEvent = CallEvent> = {
  /**
   * Cancels the call. Where the sidecar had already begun to commit, it finishes and the call gives its result all the same;
   * else the call fails with the reason `cancelled`, and nothing was changed that its result would not tell. Where the sidecar does
   * not answer within five seconds it fails with `timed_out`: whether it was done is not known.
   */
  readonly signal?: AbortSignal
  /** How many milliseconds the call may take before it is cancelled; then it fails with `timed_out`. More than 2^31-1 is no limit. */
  readonly timeout?: number
  /** Called for each frame of progress. */
  readonly onProgress?: (progress: Progress<E>) => void
}

/** The result to come. To iterate over it gives the progress, from then on; it ends, or throws, with the call. */
export type Call<Result, P = Progress> = Promise<Result> & AsyncIterable<P>

/** What `call` can be asked for. */
export type MethodName = keyof Methods
/** What a method takes. */
export type Params<M extends MethodName> = Methods[M]['params']
/** What a method answers. */
export type Result<M extends MethodName> = Methods[M]['result']
/** The events that a method may report on its way; `never` where it reports none. */
export type Events<M extends MethodName> = Methods[M]['events']

/** Whether a method needs no parameters. */
type TakesNone<M extends MethodName> = Params<M> extends Record<string, never> ? true : {} extends Params<M> ? true : false

/** What follows a method's name in `call`: parameters may be left out where none is required. */
export type CallArguments<M extends MethodName> = TakesNone<M> extends true
  ? [params?: Params<M>, options?: CallOptions<Events<M>>]
  : [params: Params<M>, options?: CallOptions<Events<M>>]

/** What a sidecar tells unasked, and what becomes of its process. */
export interface SidecarEvents extends Notifications {
  /** The process has ended, unasked: after `close` this is not told. */
  exit: Exit
  /** It runs again. What `cleanup.watch` began has to be begun anew; `homes` are watched. */
  restart: RuntimeHandshakeResult
  /** It could not be started again, for now: the next attempt follows. */
  retry: SidecarError
  /** It ended for a reason that no restart can mend: each call fails with this error from now on. */
  failed: SidecarError
}

/** What timers are made of, so that a test need not wait for them. */
export type Clock = {
  now(): number
  /** Calls back once after `ms`; what it gives takes that back. */
  after(ms: number, callback: () => void): { cancel(): void; hold(held: boolean): void }
}

/** How to start a sidecar. All may be left out. */
export type StartOptions = {
  /** The profiles' folders, each of which holds a `state.db`: what deletes left in them is cleaned up unasked. They need not exist. */
  readonly homes?: readonly string[]
  /** The folder of the installed Agent, which has to exist. It decides which path a delete takes. */
  readonly agentDir?: string
  /** The home of the base profile. */
  readonly baseHome?: string
  /** The path of the sidecar's program, where it is not the one of the installed platform package. */
  readonly binary?: string
  /** Variables for the sidecar's environment, beside those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Takes each line of the sidecar's log: JSON, one object a line. */
  readonly logger?: (line: string) => void
  /** The time limit of calls that name none, in milliseconds. */
  readonly timeout?: number
  /** For tests: the delays before a restart, before a busy sidecar is asked again, until a cancel is waited for no longer, and until `close` kills. */
  readonly clock?: Clock
}
