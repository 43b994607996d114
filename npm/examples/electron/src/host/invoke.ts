import type { Bridge, Reply } from '../bridge.js'
import { failed } from '../failed.js'
import { isMethod } from '../methods.js'
import { invalid } from './check.js'
import { failureOf } from './failure.js'

/** Has `leave` called when the page that asks is gone; what it returns ends that. */
export type WhenGone = (leave: () => void) => () => void

/**
 * Carries out a call as it came from a page: only a method of the bridge, and no more parameters than any of them has. A page that was
 * reloaded or closed can neither show nor stop the delete of many that it has begun: that stops before the next conversation.
 */
export async function invoke(host: Bridge, method: unknown, parameters: unknown, whenGone: WhenGone): Promise<Reply<unknown>> {
  if (!isMethod(method)) return failed(failureOf(invalid('there is no such method')))
  if (!Array.isArray(parameters) || parameters.length > 3) return failed(failureOf(invalid('that is no list of parameters')))
  const call = host[method] as (...parameters: unknown[]) => Promise<Reply<unknown>>
  const { job } = (parameters[2] ?? {}) as { job?: unknown }
  if (method !== 'deleteMany' || typeof job !== 'string') return call(...parameters)
  const stay = whenGone(() => void host.cancel(job))
  try {
    return await call(...parameters)
  } finally {
    stay()
  }
}
