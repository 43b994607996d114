import type { Bridge, HostEvent, Reply } from './bridge.js'

export type Method = Exclude<keyof Bridge, 'listen'>

/** Every method that passes from the page to its host, and no other: a new one of Bridge that is missing here does not compile. */
const all = {
  profiles: true,
  conversations: true,
  preview: true,
  delete: true,
  deleteMany: true,
  cancel: true,
  saveCopy: true,
  trash: true,
  restore: true,
  purge: true,
  receipts: true,
  forgetReceipts: true,
  cleanup: true,
  cleanNow: true,
} satisfies Record<Method, true>

export const methods = Object.keys(all) as readonly Method[]

export const isMethod = (name: unknown): name is Method => typeof name === 'string' && Object.hasOwn(all, name)

/** A bridge whose calls go somewhere else: over Electron's IPC, or over HTTP. */
export function bridgeOver(
  call: (method: Method, parameters: unknown[]) => Promise<Reply<unknown>>,
  listen: (listener: (event: HostEvent) => void) => () => void,
): Bridge {
  const calls = Object.fromEntries(methods.map((method) => [method, (...parameters: unknown[]) => call(method, parameters)]))
  return { ...(calls as Omit<Bridge, 'listen'>), listen }
}
