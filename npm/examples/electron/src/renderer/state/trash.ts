import { computed, signal } from '@preact/signals'
import type { Failure } from '../../bridge.ts'
import { words } from '../strings.ts'
import type { TrashEntry } from '../types.ts'
import { ask, profileKey } from './app.ts'
import { tell, tellFailure } from './messages.ts'

// The deleted conversations that can still be taken back.

export const entries = signal<readonly TrashEntry[]>([])
export const unreadableEntries = signal<readonly string[]>([])
export const trashPhase = signal<'first' | 'ready'>('first')
export const trashFailure = signal<Failure | null>(null)
export const currentEntryId = signal<string | null>(null)
export const currentEntry = computed(() => entries.value.find((one) => one.operation_id === currentEntryId.value))

/** What is asked about before it is erased: an entry, a file that cannot be read, or all that were shown when it was asked. */
export type PurgeAsked = { readonly entry?: TrashEntry; readonly unreadable?: string; readonly all?: readonly string[] }
export const purgeAsked = signal<PurgeAsked | null>(null)

/** How many entries one call may name. */
const atOnce = 500

let turn = 0

/** Nothing tells that the trash has changed, so it is read again whenever it is shown. */
export async function readTrash() {
  const mine = ++turn
  const reply = await ask((host) => host.trash(profileKey.value))
  if (mine !== turn) return
  trashPhase.value = 'ready'
  trashFailure.value = reply.ok ? null : reply.failure
  if (!reply.ok) return
  const at = entries.value.findIndex((one) => one.operation_id === currentEntryId.value)
  entries.value = reply.value.entries
  unreadableEntries.value = reply.value.unreadable
  if (!currentEntry.value) currentEntryId.value = entries.value[Math.min(Math.max(at, 0), entries.value.length - 1)]?.operation_id ?? null
}

export async function purge(operations: readonly string[]) {
  let purged = 0
  let left: Failure | undefined
  for (let at = 0; at < operations.length && !left; at += atOnce) {
    const reply = await ask((host) => host.purge(profileKey.value, operations.slice(at, at + atOnce)))
    if (reply.ok) purged += reply.value.purged
    left = reply.ok ? reply.value.left : reply.failure
  }
  await readTrash()
  if (purged > 0) tell(words.trash.purged(purged))
  if (left) tellFailure(left)
}

/** The operation id of a file in the trash is its name up to the first dot. */
export const operationOf = (name: string) => name.split('.', 1)[0] ?? name

export function forgetTrash() {
  turn++
  entries.value = []
  unreadableEntries.value = []
  currentEntryId.value = null
  trashPhase.value = 'first'
}
