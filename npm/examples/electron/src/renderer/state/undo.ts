import { signal } from '@preact/signals'
import type { Failure } from '../../bridge.ts'
import { words } from '../strings.ts'
import type { Restored } from '../types.ts'
import { ask, profileKey, view } from './app.ts'
import { conversations, current, refresh } from './conversations.ts'
import { dismissOffers, sentenceOf, tell } from './messages.ts'
import { readTrash } from './trash.ts'

// Taking deletes back: the last one by its button or key, any of them from the trash.

export type Kept = { readonly profile: string; readonly root: string; readonly title: string; readonly operation: string }

/**
 * Each delete as one step, however many conversations it took. One that kept nothing is a step, too: behind it the key takes nothing
 * back, since the user would see another conversation come than the one that went last.
 */
const steps = signal<readonly { readonly profile: string; readonly kept: readonly Kept[] }[]>([])
const remembered = 50

/** How far it is with what is brought back now. It can be stopped between two; the rest stays in the trash. */
export const restoring = signal<{ readonly done: number; readonly total: number; readonly stopped: boolean } | null>(null)
export function stopRestoring() {
  if (restoring.value) restoring.value = { ...restoring.value, stopped: true }
}

/** What a message needs to offer that. */
export const offer = (kept: readonly Kept[]) =>
  kept.length === 0
    ? {}
    : { action: { label: words.outcome.undo, run: () => void takeBack(kept) }, operations: kept.map((one) => one.operation) }

/** Remembers a delete, with what of it can be taken back. */
export function noteDelete(profile: string, kept: readonly Kept[]) {
  steps.value = [...steps.value, { profile, kept }].slice(-remembered)
}

/** What is restored or erased from the trash by hand cannot be taken back any more. */
export function forgetOperation(operation: string) {
  dismissOffers(operation)
  const left = (kept: readonly Kept[]) => kept.filter((one) => one.operation !== operation)
  steps.value = steps.value.flatMap(({ profile, kept }) => (kept.length > 0 && left(kept).length === 0 ? [] : [{ profile, kept: left(kept) }]))
}

export async function takeBackLast() {
  const step = steps.value.findLast((one) => one.profile === profileKey.value)
  if (!step) tell(words.outcome.nothingToUndo)
  else if (step.kept.length === 0) tell(words.outcome.lastErased)
  else await takeBack(step.kept)
}

/** What a restore could not bring back as it was, in words. */
const losses = (result: Restored) => [
  ...(result.dropped?.length ? [words.trash.dropped(result.dropped)] : []),
  ...(result.changed?.length ? [words.trash.changed(result.changed)] : []),
  ...(result.fts_stale?.length ? [words.trash.stale] : []),
  ...(result.entry_left ? [words.trash.entryLeft] : []),
]

const stopAsked = () => restoring.value?.stopped === true

export async function takeBack(kept: readonly Kept[]) {
  if (restoring.value) return
  restoring.value = { done: 0, total: kept.length, stopped: false }
  try {
    const failures: Failure[] = []
    const more = new Set<string>()
    let back: string | undefined
    let done = 0
    for (const one of kept) {
      if (stopAsked()) break
      const reply = await ask((host) => host.restore(one.profile, one.operation))
      if (!reply.ok) {
        failures.push(reply.failure)
        if (reply.failure.retryable) continue
      } else {
        for (const line of losses(reply.value)) more.add(line)
        done++
        back ??= reply.value.restored[one.root] ?? Object.values(reply.value.restored)[0]
      }
      forgetOperation(one.operation)
      restoring.value = { done, total: kept.length, stopped: stopAsked() }
    }
    await Promise.all([refresh(), readTrash()])
    const listed = conversations.value.some((one) => one.root === back)
    if (back !== undefined && listed && view.value === 'conversations') current.value = back
    const first = kept[0]
    if (done > 0 && first) tell(kept.length === 1 ? words.trash.restored(first.title) : words.trash.restoredMany(done), { more: [...more] })
    if (failures.length > 0) {
      tell(words.trash.notRestored(failures.length), { tone: 'problem', more: [...new Set(failures.map(sentenceOf))] })
    }
  } finally {
    restoring.value = null
  }
}
