import { effect, signal } from '@preact/signals'
import type { Failure } from '../../bridge.ts'
import type { Preview } from '../types.ts'
import { ask, profileKey } from './app.ts'
import { current, refresh } from './conversations.ts'

// What a delete of the current conversation would take: read anew whenever another one is looked at.

export type Looked =
  | { readonly root: string; readonly state: 'looking' }
  | { readonly root: string; readonly state: 'seen'; readonly preview: Preview }
  /** The call failed, or the answer is nothing but a refusal: there is no family to show. */
  | { readonly root: string; readonly state: 'failed'; readonly failure: Failure }

export const looked = signal<Looked | null>(null)

/** Whoever runs through the list with a key held down asks only for where they stop. */
const pause = 80
let waiting: ReturnType<typeof setTimeout> | undefined
let turn = 0

/** Nothing tells that a turn has ended, so where one runs it is looked again and again, as long as somebody sees it. */
const inUsePause = 10_000

function followTurn(root: string, before: Preview | undefined, preview: Preview) {
  const inUse = preview.guards.length > 0
  if (!inUse && before !== undefined && before.guards.length > 0) void refresh()
  if (!inUse) return
  clearTimeout(waiting)
  waiting = setTimeout(() => {
    if (document.visibilityState === 'visible') void look(root)
    else followTurn(root, before, preview)
  }, inUsePause)
}

async function look(root: string) {
  const mine = ++turn
  const reply = await ask((host) => host.preview(profileKey.value, root, 'keep'))
  if (mine !== turn || current.peek() !== root) return
  const before = looked.peek()
  const failure = reply.ok ? (reply.value.ids.length === 0 ? reply.value.failure : undefined) : reply.failure
  if (failure) looked.value = { root, state: 'failed', failure }
  else if (reply.ok) looked.value = { root, state: 'seen', preview: reply.value }
  if (reply.ok) followTurn(root, before?.root === root && before.state === 'seen' ? before.preview : undefined, reply.value)
}

export function lookAgain() {
  const root = current.value
  if (root === null) return
  if (looked.value?.state === 'failed') looked.value = { root, state: 'looking' }
  void look(root)
}

/** What is seen of both, the list and the one that is looked at, as it is now. */
export function refreshAll() {
  lookAgain()
  void refresh()
}

effect(() => {
  const root = current.value
  clearTimeout(waiting)
  turn++
  if (root === null) {
    looked.value = null
    return
  }
  if (looked.peek()?.root !== root) looked.value = { root, state: 'looking' }
  waiting = setTimeout(() => void look(root), pause)
})
