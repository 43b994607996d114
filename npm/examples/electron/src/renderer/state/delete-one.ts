import { signal } from '@preact/signals'
import type { Failure, Mode } from '../../bridge.ts'
import { words } from '../strings.ts'
import type { Deleted, Preview } from '../types.ts'
import { ask, newJob, profileKey } from './app.ts'
import { readCleanup } from './cleanup.ts'
import { conversations, refresh, removeFromList, titleOf } from './conversations.ts'
import { sentenceOf, tell, tellFailure } from './messages.ts'
import { areRowsGone } from './outcome.ts'
import { lookAgain } from './preview.ts'
import { entryOf, readTrash } from './trash.ts'
import { type Kept, noteDelete, offer } from './undo.ts'

// One delete, from the question to its end. There is one at a time, in a dialog.

export type DeleteOne = {
  readonly profile: string
  readonly root: string
  readonly title: string
  readonly mode: Mode
  /** erased: done, and what the answer says of what can still be read is shown. */
  readonly step: 'asking' | 'running' | 'stopping' | 'erased'
  /** What the user agrees to. Absent until it is known. */
  readonly preview?: Preview
  /** The set has changed under the user: what came, and how many left. */
  readonly changed?: { readonly added: string[]; readonly left: number }
  readonly failure?: Failure
  readonly purging: boolean
  readonly job: string
  readonly result?: Deleted
}

export const deleteOne = signal<DeleteOne | null>(null)

const update = (change: Partial<DeleteOne>) => {
  if (deleteOne.value) deleteOne.value = { ...deleteOne.value, ...change }
}

export async function askToDelete(root: string) {
  const conversation = conversations.value.find((one) => one.root === root)
  const asked: DeleteOne = {
    profile: profileKey.value,
    root,
    title: titleOf(conversation),
    mode: 'keep',
    step: 'asking',
    purging: false,
    job: '',
  }
  deleteOne.value = asked
  await readPlan()
}

/** The plan is read for the dialog, and not taken from what was shown before: it may be minutes old. */
export async function readPlan() {
  const asked = deleteOne.value
  if (!asked) return
  const reply = await ask((host) => host.preview(asked.profile, asked.root, asked.mode))
  if (deleteOne.value?.root !== asked.root || deleteOne.value.step !== 'asking') return
  if (!reply.ok) return update({ failure: reply.failure })
  if (reply.value.existed === false) {
    deleteOne.value = null
    removeFromList(new Set([asked.root]))
    tell(words.outcome.wasGone(asked.title))
    return
  }
  const { failure: _, ...rest } = deleteOne.value
  deleteOne.value = { ...rest, preview: reply.value, ...(reply.value.failure && { failure: reply.value.failure }) }
}

export const chooseMode = (mode: Mode) => update({ mode })

export function closeDelete() {
  if (deleteOne.value?.step === 'asking' || deleteOne.value?.step === 'erased') deleteOne.value = null
}

export async function stopDelete() {
  const running = deleteOne.value
  if (running?.step !== 'running') return
  update({ step: 'stopping' })
  await ask((host) => host.cancel(running.job))
}

export const purgingOne = (job: string) => {
  if (deleteOne.value?.job === job) update({ purging: true })
}

export async function confirmDelete() {
  const asked = deleteOne.value
  if (!asked?.preview || asked.step !== 'asking') return
  const job = newJob()
  const { failure: _failure, changed: _changed, ...rest } = asked
  deleteOne.value = { ...rest, step: 'running', purging: false, job }
  const expectedIds = asked.preview.ids.map((session) => session.id)
  const reply = await ask((host) => host.delete(asked.profile, asked.root, { mode: asked.mode, expectedIds, job }))
  if (!reply.ok) return notAnswered(asked, reply.failure)
  const result = reply.value
  if (areRowsGone(result)) return gone(asked, result)
  if (result.reason === 'plan_changed' && result.plan) return planChanged(asked.preview, result)
  update({ step: 'asking', preview: withGuard(asked.preview, result), ...(result.failure && { failure: result.failure }) })
  void refresh().then(lookAgain)
}

function planChanged(agreed: Preview, result: Deleted) {
  const plan = result.plan as Preview
  const before = new Set(agreed.ids.map((session) => session.id))
  const after = new Set(plan.ids.map((session) => session.id))
  update({
    step: 'asking',
    preview: plan,
    changed: {
      added: plan.ids.filter((session) => !before.has(session.id)).map((session) => session.title ?? session.id),
      left: [...before].filter((id) => !after.has(id)).length,
    },
  })
  void refresh().then(lookAgain)
}

/** A refusal names the guard that it met first; the dialog says who it is from there. */
const withGuard = (preview: Preview, result: Deleted): Preview => (result.guard ? { ...preview, guards: [result.guard] } : preview)

function gone(asked: DeleteOne, result: Deleted) {
  removeFromList(new Set([asked.root]))
  const kept = result.trash ? [keptBy(asked, result.trash.operation_id)] : []
  if (result.existed !== false) noteDelete(asked.profile, kept)
  void readTrash()
  void readCleanup()
  if (asked.mode === 'erase' && result.deleted_ids) return update({ step: 'erased', result })
  deleteOne.value = null
  const existed = result.existed !== false
  tell(existed ? words.outcome.deleted(asked.title) : words.outcome.wasGone(asked.title), {
    more: [...aboutKeeping(result), ...(result.failure ? [sentenceOf(result.failure)] : [])],
    ...offer(kept),
  })
}

const keptBy = ({ profile, root, title }: DeleteOne, operation: string): Kept => ({ profile, root, title, operation })

/** A way back is promised only where the answer has one. */
function aboutKeeping(result: Deleted) {
  if (result.trash) return [words.outcome.until(words.format.date(result.trash.keep_until))]
  return result.deleted_ids ? [words.outcome.notKept] : []
}

/**
 * The call failed. Where the sidecar ended before it answered nobody knows whether the delete was done, so the store is asked: what is
 * not there any more was deleted, and the trash tells whether it can be taken back.
 */
async function notAnswered(asked: DeleteOne, failure: Failure) {
  if (failure.reason === 'cancelled') {
    deleteOne.value = null
    tellFailure(failure)
    return
  }
  update({ step: 'asking', failure })
  const reply = await ask((host) => host.preview(asked.profile, asked.root, asked.mode))
  if (deleteOne.value?.root !== asked.root || deleteOne.value.step !== 'asking' || !reply.ok) return
  if (reply.value.existed !== false) return update({ preview: reply.value })
  deleteOne.value = null
  removeFromList(new Set([asked.root]))
  await readTrash()
  const entry = entryOf(asked.root)
  const kept = entry ? [keptBy(asked, entry.operation_id)] : []
  noteDelete(asked.profile, kept)
  tell(words.outcome.deleted(asked.title), {
    more: entry ? [words.outcome.until(words.format.date(entry.keep_until))] : [words.outcome.notKept, ...(asked.mode === 'erase' ? [words.outcome.erase.indexes({ pages: '', indexes: 'pending', wal: '' })] : [])],
    ...offer(kept),
  })
}
