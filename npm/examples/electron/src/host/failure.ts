import { refusal, SidecarError } from 'session-sidecar'
import type { Failure } from '../bridge.js'
import { resolved, type Home } from './profiles.js'

/**
 * An error as the page gets it: its reason and sentences, and of the detail no more than that of a refusal. `message` has paths and
 * belongs into the log. What is none of the client's errors is a bug, of which the page learns no more than that.
 */
export function failureOf(error: unknown, home?: Home): Failure {
  const known = error instanceof SidecarError ? error : new SidecarError('unexpected_failure', String(error))
  const { reason, sentence, retryable, detail } = known
  return { reason, sentence, retryable, ...(detail !== undefined && { detail: home ? withoutHome(detail, home) : detail }) }
}

type Refusable = { ok?: boolean; reason?: string; detail?: string; plan?: { detail?: string } }

/** A result whose refusal, where it has one, stands beside it in words. */
export function outcomeOf<T extends Refusable>(result: T, home: Home): T & { failure?: Failure } {
  const refused = refusal(result)
  return {
    ...result,
    ...hidden(result, home),
    ...(result.plan && { plan: { ...result.plan, ...hidden(result.plan, home) } }),
    ...(refused && { failure: failureOf(refused, home) }),
  }
}

/** Puts the profile's name in the place of its folder, which says nothing to a user that the name does not. */
export function withoutHome(text: string, { home, name }: Home): string {
  return text.replaceAll(resolved(home), name).replaceAll(home, name)
}

const hidden = ({ detail }: { detail?: string }, home: Home) => (detail === undefined ? {} : { detail: withoutHome(detail, home) })
