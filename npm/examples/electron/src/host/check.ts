import { SidecarError } from 'session-sidecar'
import type { Mode } from '../bridge.js'

// A page is not to be trusted: whatever came to run in it, by a title that was shown as markup say, speaks with its voice. So nothing of
// what it sends is used before it was looked at here.

/** No id, cursor or name that anybody made is longer. */
const longest = 1_000

/** How many conversations may go in one call. */
const most = 10_000

/** How many characters all ids of one call may have together: the sidecar takes lines of 8 MiB. */
const room = 2_000_000

/** The error for an argument that the page's own code would never send. */
export function invalid(what: string): SidecarError {
  return new SidecarError('invalid_call', what, { detail: what })
}

export function textOf(value: unknown, what: string, atMost = longest): string {
  if (typeof value !== 'string' || value.length > atMost) throw invalid(`${what} is not a text of at most ${atMost} characters`)
  return value
}

/** An id, a cursor, a job's name: a text that says something. */
export function nameOf(value: unknown, what: string): string {
  if (textOf(value, what) === '') throw invalid(`${what} is empty`)
  return value as string
}

export function numberOf(value: unknown, what: string, from: number, to: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < from || (value as number) > to) throw invalid(`${what} is not a whole number from ${from} to ${to}`)
  return value as number
}

export function modeOf(value: unknown): Mode {
  if (value !== 'keep' && value !== 'erase') throw invalid('mode is neither keep nor erase')
  return value
}

/** How a delete is to be done. `expectedIds` is looked at apart: of one delete it is a list, of many an object. */
export function choiceOf(value: unknown): { mode: Mode; job: string; expectedIds: unknown } {
  const { mode, job, expectedIds } = recordOf(value, 'choice')
  return { mode: modeOf(mode), job: nameOf(job, 'job'), expectedIds }
}

/** A list of ids, of which there is at least one. */
export function idsOf(value: unknown, what: string): string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > most) throw invalid(`${what} is not a list of 1 to ${most}`)
  const ids = value.map((id) => nameOf(id, what))
  if (ids.reduce((sum, id) => sum + id.length, 0) > room) throw invalid(`${what} is too long`)
  return ids
}

/** For each root the ids that the user agreed to. All of them have to be there: nothing is deleted that nobody was shown. */
export function idsByRoot(value: unknown, roots: readonly string[]): Record<string, string[]> {
  const given = recordOf(value, 'expectedIds')
  const ids = roots.map((root) => [root, idsOf(Object.hasOwn(given, root) ? given[root] : undefined, 'expectedIds')] as const)
  if (ids.flatMap(([, list]) => list).reduce((sum, id) => sum + id.length, 0) > room) throw invalid('expectedIds is too long')
  return Object.fromEntries(ids)
}

export function recordOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(`${what} is not an object`)
  return value as Record<string, unknown>
}
