import { reasons } from './methods.generated.js'

/** What this client itself may have to say, in the form of the sidecar's own reasons. */
const clientReasons = {
  invalid_call: { retryable: false, sentence: 'The app asked for something that its sidecar does not understand. Update the app.' },
  sidecar_closed: { retryable: false, sentence: 'The app is closing.' },
  sidecar_exited: { retryable: true, sentence: 'The program that deletes conversations has stopped. Try again in a moment.' },
  sidecar_unusable: { retryable: false, sentence: 'The program that deletes conversations cannot be started. Reinstall the app.' },
  timed_out: { retryable: true, sentence: 'This took too long. Look whether it was done before you try again.' },
  unexpected_failure: { retryable: false, sentence: 'Something unexpected went wrong. The log of the app says more.' },
} as const

/** The stable words for why something was not done: those of the sidecar, and those of this client. */
export type Reason = keyof typeof reasons | keyof typeof clientReasons

/** Why, in words for a user, and whether asking again may help. */
export type Meaning = { readonly retryable: boolean; readonly sentence: string }

const meanings: Readonly<Record<string, Meaning>> = { ...reasons, ...clientReasons }

/** What a reason means. A word that this client does not know comes from a newer sidecar. */
export function meaningOf(reason: string): Meaning {
  return Object.hasOwn(meanings, reason) ? meanings[reason]! : clientReasons.unexpected_failure
}

type Details = {
  code?: number
  condition?: string
  detail?: string
  data?: Readonly<Record<string, unknown>>
  exit?: Exit
  cause?: unknown
}

/** How a sidecar ended: its exit status, or the signal that ended it. */
export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null }

/** What makes an error one of ours, whichever copy of this package has made it: an app may import one and require another. */
const brand = Symbol.for('session-sidecar.SidecarError')

/** The one error of this package. `message` is for the log, `sentence` for the user. */
export class SidecarError extends Error {
  static {
    Object.defineProperty(this.prototype, brand, { value: true })
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== SidecarError) return Function.prototype[Symbol.hasInstance].call(this, value) // a class that extends it
    return typeof value === 'object' && value !== null && brand in value
  }

  override readonly name = 'SidecarError'
  /** The code of the sidecar's error answer; absent where there was none. */
  readonly code: number | undefined
  /** `data.condition` of the sidecar's error answer, for the codes -32000 and -32001. */
  readonly condition: string | undefined
  /** The stable word for what went wrong, always there: what programs decide by. */
  readonly reason: Reason | (string & {})
  /** Whether asking again, unchanged, may help. */
  readonly retryable: boolean
  /** What to tell the user. */
  readonly sentence: string
  /** One more line for a human, where there is one: `data.detail`, or that of a refusal. */
  readonly detail: string | undefined
  /** All of `data` of the sidecar's error answer. */
  readonly data: Readonly<Record<string, unknown>> | undefined
  /** How the sidecar ended, where that is why. */
  readonly exit: Exit | undefined

  constructor(reason: Reason | (string & {}), message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    const { retryable, sentence } = meaningOf(reason)
    this.reason = reason
    this.retryable = retryable
    this.sentence = sentence
    this.code = details.code
    this.condition = details.condition
    this.detail = details.detail
    this.data = details.data
    this.exit = details.exit
  }
}

/** The same error with another reason, or another message. */
export function retold(error: SidecarError, { reason = error.reason, message = error.message }: { reason?: Reason | (string & {}); message?: string }): SidecarError {
  const { code, condition, detail, data, exit, cause } = error
  return new SidecarError(reason, message, { code, condition, detail, data, exit, cause })
}

/** The codes for a call that the sidecar did not understand. */
const invalidCodes = new Set([-32700, -32600, -32601, -32602])

/** The error for an error answer. */
export function errorOfAnswer(method: string, { code, message, data }: { code: number; message: string; data?: Record<string, unknown> }): SidecarError {
  const text = (key: string) => (typeof data?.[key] === 'string' ? (data[key] as string) : undefined)
  const condition = text('condition')
  const incident = text('incident')
  const reason = condition ?? (invalidCodes.has(code) ? 'invalid_call' : 'unexpected_failure')
  return new SidecarError(reason, `${method}: ${message} (${incident ? `incident ${incident}` : condition ?? code})`, {
    code, condition, detail: text('detail'), data,
  })
}

/** What a delete, a preview or one of many in a list says about itself. */
export type Outcome = { readonly ok?: boolean; readonly reason?: string; readonly detail?: string }

/**
 * The error in a result: deletes and previews refuse inside their results, which are no failures of the call. Undefined where
 * nothing was refused.
 */
export function refusal(outcome: Outcome): SidecarError | undefined {
  if (outcome.reason === undefined && outcome.ok !== false) return undefined
  const reason = outcome.reason ?? 'unexpected_failure'
  return new SidecarError(reason, outcome.detail ?? reason, { detail: outcome.detail })
}
