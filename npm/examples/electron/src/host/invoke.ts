import type { Bridge, Reply } from '../bridge.js'
import { failed } from '../failed.js'
import { isMethod } from '../methods.js'
import { invalid } from './check.js'
import { failureOf } from './failure.js'

/** Carries out a call as it came from a page: only a method of the bridge, and no more parameters than any of them has. */
export async function invoke(host: Bridge, method: unknown, parameters: unknown): Promise<Reply<unknown>> {
  if (!isMethod(method)) return failed(failureOf(invalid('there is no such method')))
  if (!Array.isArray(parameters) || parameters.length > 3) return failed(failureOf(invalid('that is no list of parameters')))
  const call = host[method] as (...parameters: unknown[]) => Promise<Reply<unknown>>
  return call(...parameters)
}
