import { computed, signal } from '@preact/signals'
import type { Failure } from '../../bridge.ts'
import { words } from '../strings.ts'
import type { Conversation } from '../types.ts'
import { ask, profileKey } from './app.ts'
import { say } from './messages.ts'

// The list of conversations: pages, search, which one is looked at (current) and which are chosen for a delete of many (checked).

const pageSize = 100
const largestPage = 1000
const typingPause = 150

export const conversations = signal<readonly Conversation[]>([])
export const query = signal('')
export const current = signal<string | null>(null)
export const checked = signal<ReadonlySet<string>>(new Set())
/** first: nothing to show yet; busy: what is shown is about to be replaced; more: the next page is on its way. */
export const phase = signal<'first' | 'busy' | 'more' | 'ready'>('first')
export const listFailure = signal<Failure | null>(null)

const next = signal<string | undefined>(undefined)
export const hasMore = computed(() => next.value !== undefined)
export const currentConversation = computed(() => conversations.value.find((one) => one.root === current.value))
export const checkedConversations = computed(() => conversations.value.filter((one) => checked.value.has(one.root)))

export const titleOf = (conversation: { title?: string } | undefined) => conversation?.title?.trim() || words.untitled
export const titleOfRoot = (root: string) => titleOf(conversations.value.find((one) => one.root === root))

/** Goes up with each new list, so that the answer to an older question is thrown away. */
let turn = 0

async function page(limit: number, before?: string) {
  const text = query.value.trim()
  return ask((host) =>
    host.conversations(profileKey.value, { limit, ...(text && { query: text }), ...(before !== undefined && { before }) }),
  )
}

/** Reads the list anew, as far as it had been read before. */
export async function refresh({ anew = false } = {}) {
  const mine = ++turn
  const wanted = anew ? pageSize : Math.max(pageSize, conversations.value.length)
  if (phase.value !== 'first') phase.value = 'busy'
  listFailure.value = null
  const found: Conversation[] = []
  let after: string | undefined
  do {
    const reply = await page(Math.min(wanted - found.length, largestPage), after)
    if (mine !== turn) return
    if (!reply.ok) {
      listFailure.value = reply.failure
      phase.value = 'ready'
      return
    }
    found.push(...reply.value.conversations)
    after = reply.value.next
  } while (after !== undefined && found.length < wanted)
  show(found, after)
  if (anew) sayCount()
}

export async function readMore() {
  if (next.value === undefined || phase.value !== 'ready') return
  const mine = ++turn
  phase.value = 'more'
  const reply = await page(pageSize, next.value)
  if (mine !== turn) return
  if (!reply.ok) {
    listFailure.value = reply.failure
    phase.value = 'ready'
    return
  }
  // Pages neither repeat nor skip what nobody touches, but what was touched meanwhile may come twice.
  const there = new Set(conversations.value.map((one) => one.root))
  show([...conversations.value, ...reply.value.conversations.filter((one) => !there.has(one.root))], reply.value.next)
}

function show(found: readonly Conversation[], after: string | undefined) {
  conversations.value = found
  next.value = after
  phase.value = 'ready'
  const there = new Set(found.map((one) => one.root))
  checked.value = new Set([...checked.value].filter((root) => there.has(root)))
  if (current.value === null || !there.has(current.value)) current.value = found[0]?.root ?? null
}

function sayCount() {
  const n = conversations.value.length
  if (query.value.trim() === '') say(words.list.count(n, hasMore.value))
  else say(n === 0 ? words.list.nothingFound(query.value) : words.list.found(n, hasMore.value))
}

let typing: ReturnType<typeof setTimeout> | undefined

/** Search as you type: the list follows when the typing pauses. */
export function search(text: string) {
  query.value = text
  clearTimeout(typing)
  typing = setTimeout(() => void refresh({ anew: true }), text === '' ? 0 : typingPause)
}

/** What is gone leaves the list at once; the one below it is looked at next. */
export function removeFromList(roots: ReadonlySet<string>) {
  const before = conversations.value
  const at = before.findIndex((one) => one.root === current.value)
  const left = before.filter((one) => !roots.has(one.root))
  if (current.value !== null && roots.has(current.value)) {
    const below = before.slice(at + 1).find((one) => !roots.has(one.root))
    const above = before.slice(0, Math.max(at, 0)).findLast((one) => !roots.has(one.root))
    current.value = (below ?? above)?.root ?? null
  }
  conversations.value = left
  checked.value = new Set([...checked.value].filter((root) => !roots.has(root)))
}

export function forgetList() {
  turn++
  conversations.value = []
  next.value = undefined
  current.value = null
  checked.value = new Set()
  query.value = ''
  phase.value = 'first'
}
