import { signal } from '@preact/signals'
import type { Failure, Mode } from '../../bridge.ts'
import { words } from '../strings.ts'
import type { DeletedMany, Erase, Guard, Preview } from '../types.ts'
import { ask, newJob, profileKey } from './app.ts'
import { readCleanup } from './cleanup.ts'
import { checkedConversations, refresh, removeFromList, titleOf } from './conversations.ts'
import { sentenceOf, tell } from './messages.ts'
import { areRowsGone } from './outcome.ts'
import { entryOf, readTrash } from './trash.ts'
import { type Kept, noteDelete, offer } from './undo.ts'

// The delete of many: look at each, ask once, delete with progress, tell what became of each.

export type Refused = { readonly root: string; readonly title: string; readonly why: string }

export type DeleteMany = {
  readonly profile: string
  readonly titles: ReadonlyMap<string, string>
  readonly mode: Mode
  readonly step: 'looking' | 'asking' | 'running' | 'stopping' | 'done'
  readonly looked: number
  /** What the user agrees to, by root: those that can be deleted. */
  readonly plans: ReadonlyMap<string, Preview>
  readonly refused: readonly Refused[]
  readonly done: number
  readonly total: number
  readonly purging: boolean
  readonly job: string
  readonly failure?: Failure
  readonly outcome?: Outcome
}

export type Outcome = {
  readonly deleted: number
  readonly cancelled: number
  readonly refused: readonly Refused[]
  readonly leftovers: number
  readonly erase?: Erase
}

export const deleteMany = signal<DeleteMany | null>(null)

const looksAtOnce = 4

const update = (change: Partial<DeleteMany>) => {
  if (deleteMany.value) deleteMany.value = { ...deleteMany.value, ...change }
}

/** Looks at every one of them, so that the question says in words what will happen. */
export async function askToDeleteMany() {
  const chosen = checkedConversations.value
  const titles = new Map(chosen.map((one) => [one.root, titleOf(one)]))
  const job = newJob()
  const none = { looked: 0, plans: new Map<string, Preview>(), refused: [], done: 0, total: 0, purging: false }
  deleteMany.value = { profile: profileKey.value, titles, mode: 'keep', step: 'looking', job, ...none }
  const plans = new Map<string, Preview>()
  const refused = new Map<string, string>()
  const waiting = [...titles.keys()]
  const look = async () => {
    for (let root = waiting.shift(); root !== undefined && deleteMany.value?.job === job; root = waiting.shift()) {
      const one = root
      const reply = await ask((host) => host.preview(profileKey.value, one, 'keep'))
      if (!reply.ok) refused.set(root, sentenceOf(reply.failure))
      else if (reply.value.failure) refused.set(root, whyRefused(reply.value.guards, reply.value.failure))
      else plans.set(root, reply.value)
      if (deleteMany.value?.job === job) update({ looked: plans.size + refused.size })
    }
  }
  await Promise.all(Array.from({ length: looksAtOnce }, look))
  if (deleteMany.value?.job !== job) return
  // In the order of the list, whichever answer came first.
  const ordered = new Map([...titles.keys()].flatMap((root) => (plans.has(root) ? [[root, plans.get(root) as Preview] as const] : [])))
  update({
    step: 'asking',
    plans: ordered,
    refused: [...titles].flatMap(([root, title]) => (refused.has(root) ? [{ root, title, why: refused.get(root) ?? '' }] : [])),
  })
}

/** Who is at work in it says more than that somebody is. */
const whyRefused = ([guard]: readonly Guard[], failure: Failure) =>
  guard ? `${words.guard.inUse(guard, Date.now() / 1000)}.` : sentenceOf(failure)

export const chooseModeMany = (mode: Mode) => update({ mode })

export function closeDeleteMany() {
  if (deleteMany.value && ['looking', 'asking', 'done'].includes(deleteMany.value.step)) deleteMany.value = null
}

export async function stopDeleteMany() {
  const running = deleteMany.value
  if (running?.step !== 'running') return
  update({ step: 'stopping' })
  await ask((host) => host.cancel(running.job))
}

export const progressOfMany = (job: string, done: number, total: number) => {
  if (deleteMany.value?.job === job) update({ done, total })
}

export const purgingMany = (job: string) => {
  if (deleteMany.value?.job === job) update({ purging: true })
}

export async function confirmDeleteMany() {
  const asked = deleteMany.value
  if (asked?.step !== 'asking' || asked.plans.size === 0) return
  const roots = [...asked.plans.keys()]
  const expectedIds = Object.fromEntries([...asked.plans].map(([root, plan]) => [root, plan.ids.map((session) => session.id)]))
  const { failure: _, ...rest } = asked
  deleteMany.value = { ...rest, step: 'running', done: 0, total: roots.length, job: newJob() }
  const job = deleteMany.value.job
  const reply = await ask((host) => host.deleteMany(asked.profile, roots, { mode: asked.mode, expectedIds, job }))
  if (reply.ok) return finished(asked, reply.value)
  if (reply.failure.reason === 'cancelled') return finished(asked, { results: [], cancelled: true })
  await notAnswered(asked, roots, reply.failure)
}

/** Nobody knows how far it came, so the store is asked of each: what is gone is said, and what the trash has can be taken back. */
async function notAnswered(asked: DeleteMany, roots: readonly string[], failure: Failure) {
  const gone: string[] = []
  const there: Refused[] = []
  for (const root of roots) {
    const reply = await ask((host) => host.preview(asked.profile, root, asked.mode))
    if (reply.ok && reply.value.existed === false) gone.push(root)
    else there.push({ root, title: titleIn(asked, root), why: sentenceOf(reply.ok ? failure : reply.failure) })
  }
  await readTrash()
  const kept = gone.flatMap((root): Kept[] => {
    const entry = entryOf(root)
    return entry ? [keptBy(asked, root, entry.operation_id)] : []
  })
  if (gone.length > 0) noteDelete(asked.profile, kept)
  removeFromList(new Set(gone))
  void Promise.all([refresh(), readCleanup()])
  update({ step: 'done', failure, outcome: { deleted: gone.length, cancelled: 0, refused: there, leftovers: 0 } })
  if (kept.length > 0) tell(words.outcome.manyDeleted(kept.length), offer(kept))
}

const titleIn = (asked: DeleteMany, root: string) => asked.titles.get(root) ?? root

const keptBy = (asked: DeleteMany, root: string, operation: string): Kept => ({ profile: asked.profile, root, title: titleIn(asked, root), operation })

function finished(asked: DeleteMany, result: DeletedMany) {
  const gone = result.results.filter(areRowsGone)
  const cancelled = result.results.length === 0 ? asked.plans.size : result.results.filter((one) => one.reason === 'cancelled').length
  const refused = result.results
    .filter((one) => !areRowsGone(one) && one.reason !== 'cancelled')
    .map((one) => ({
      root: one.session_id,
      title: titleIn(asked, one.session_id),
      why: one.failure ? whyRefused(one.guard ? [one.guard] : [], one.failure) : (one.detail ?? ''),
    }))
  const kept = gone.flatMap((one) => (one.trash ? [keptBy(asked, one.session_id, one.trash.operation_id)] : []))
  const leftovers = gone.filter((one) => one.reason === 'cleanup_pending').length
  const erase = gone.findLast((one) => one.erase)?.erase
  removeFromList(new Set(gone.map((one) => one.session_id)))
  if (gone.some((one) => one.deleted_ids)) noteDelete(asked.profile, kept)
  void Promise.all([refresh(), readTrash(), readCleanup()])

  const allWell = refused.length === 0 && cancelled === 0 && asked.mode === 'keep'
  if (!allWell)
    update({
      step: 'done',
      outcome: { deleted: gone.length, cancelled, refused, leftovers, ...(erase && asked.mode === 'erase' && { erase }) },
    })
  else deleteMany.value = null
  if (kept.length === 0) return
  const until = Math.min(...gone.flatMap((one) => (one.trash ? [one.trash.keep_until] : [])))
  tell(words.outcome.manyDeleted(gone.length), {
    more: [words.outcome.until(words.format.date(until)), ...(leftovers > 0 ? [words.outcome.leftovers(leftovers)] : [])],
    ...offer(kept),
  })
}
