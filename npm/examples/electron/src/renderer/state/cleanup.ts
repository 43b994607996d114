import { computed, signal } from '@preact/signals'
import type { Failure, HostEvent } from '../../bridge.ts'
import { words } from '../strings.ts'
import type { CleanupState } from '../types.ts'
import { ask, profileKey } from './app.ts'
import { tell, tellFailure } from './messages.ts'

// What deletes could not remove yet.

export const cleanup = signal<CleanupState | null>(null)
export const cleanupFailure = signal<Failure | null>(null)
export const cleaning = signal(false)
export const leftToClean = computed(() => (cleanup.value?.cleanup?.pending.length ?? 0) + (cleanup.value?.cleanup?.unreadable.length ?? 0))

export async function readCleanup() {
  const asked = profileKey.value
  const reply = await ask((host) => host.cleanup(asked))
  if (asked !== profileKey.value) return
  cleanupFailure.value = reply.ok ? null : reply.failure
  if (reply.ok) cleanup.value = reply.value
}

export async function cleanNow() {
  if (cleaning.value) return
  const asked = profileKey.value
  cleaning.value = true
  const reply = await ask((host) => host.cleanNow(asked))
  cleaning.value = false
  if (!reply.ok) return void tellFailure(reply.failure)
  if (asked !== profileKey.value) return
  cleanup.value = reply.value
  tell(leftToClean.value === 0 ? words.cleanup.cleaned : words.cleanup.stillLeft(leftToClean.value), {
    tone: leftToClean.value === 0 ? 'done' : 'problem',
  })
}

/** The host's word is a hint, but a newer one than what was asked for. */
export function cleanupChanged(event: Extract<HostEvent, { kind: 'cleanup' }>) {
  const known = cleanup.value
  if (event.profile !== profileKey.value || !known) return
  const unreadable = known.cleanup?.unreadable ?? []
  cleanup.value = {
    ...known,
    cleanup: { pending: event.pending, unreadable, complete: event.pending.length === 0 && unreadable.length === 0 },
  }
}
