import { computed, signal } from '@preact/signals'
import type { Failure } from '../../bridge.ts'
import type { TrashEntry } from '../types.ts'
import { ask, profileKey } from './app.ts'

// The deleted conversations that can still be taken back.

export const entries = signal<readonly TrashEntry[]>([])
export const unreadableEntries = signal<readonly string[]>([])
export const trashPhase = signal<'first' | 'ready'>('first')
export const trashFailure = signal<Failure | null>(null)
export const currentEntryId = signal<string | null>(null)
export const currentEntry = computed(() => entries.value.find((one) => one.operation_id === currentEntryId.value))

/** The entry of the delete that took a session, if it is in the trash. */
export const entryOf = (session: string) => entries.value.find((one) => one.ids.includes(session))

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

export function forgetTrash() {
  turn++
  entries.value = []
  unreadableEntries.value = []
  currentEntryId.value = null
  trashPhase.value = 'first'
}
