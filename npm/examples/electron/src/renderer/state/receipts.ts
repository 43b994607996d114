import { computed, signal } from '@preact/signals'
import type { Failure } from '../../bridge.ts'
import { words } from '../strings.ts'
import type { Receipt } from '../types.ts'
import { ask, profileKey } from './app.ts'
import { tell, tellFailure } from './messages.ts'

// The receipts of deletes, oldest first: in that order they are read, and forgotten.

export const receipts = signal<readonly Receipt[]>([])
export const receiptsPhase = signal<'first' | 'more' | 'ready'>('first')
export const receiptsFailure = signal<Failure | null>(null)
export const currentSequence = signal<number | null>(null)
export const currentReceipt = computed(() => receipts.value.find((one) => one.sequence === currentSequence.value))
export const forgetAsked = signal<number | null>(null)

const ended = signal(false)
export const hasMoreReceipts = computed(() => !ended.value)

let turn = 0
let after = 0

export async function readReceipts() {
  // What is read anew has no next page until it is there: the list may ask for one at any time.
  if (receiptsPhase.value === 'ready') receiptsPhase.value = 'more'
  after = 0
  ended.value = false
  const mine = ++turn
  await page(mine, [])
}

export async function readMoreReceipts() {
  if (ended.value || receiptsPhase.value !== 'ready') return
  receiptsPhase.value = 'more'
  await page(++turn, receipts.value)
}

async function page(mine: number, before: readonly Receipt[]) {
  const reply = await ask((host) => host.receipts(profileKey.value, after))
  if (mine !== turn) return
  receiptsPhase.value = 'ready'
  // A store without receipts is not one without deletes, but there is nothing to show in either.
  const none = !reply.ok && reply.failure.reason === 'receipts_schema_missing'
  receiptsFailure.value = reply.ok || none ? null : reply.failure
  if (!reply.ok) {
    ended.value = true
    if (none) receipts.value = []
    return
  }
  receipts.value = [...before, ...reply.value.receipts]
  after = reply.value.next_after
  ended.value = reply.value.receipts.length === 0 || after === reply.value.head
  if (!currentReceipt.value) currentSequence.value = receipts.value[0]?.sequence ?? null
}

export async function forgetThrough(sequence: number) {
  const reply = await ask((host) => host.forgetReceipts(profileKey.value, sequence))
  await readReceipts()
  if (reply.ok) tell(words.receipts.forgotten(reply.value.removed))
  else tellFailure(reply.failure)
}

export function clearReceipts() {
  turn++
  receipts.value = []
  currentSequence.value = null
  receiptsPhase.value = 'first'
}
