import { signal } from '@preact/signals'
import type { Failure } from '../../bridge.ts'
import { words } from '../strings.ts'

// What the page says: messages at the window's edge, and words that only a screen reader hears.

export type Message = {
  readonly id: number
  readonly tone: 'done' | 'problem'
  readonly text: string
  readonly more: readonly string[]
  readonly action?: { readonly label: string; run(): void }
  /** The deletes that the action takes back. */
  readonly operations: readonly string[]
}

export const messages = signal<readonly Message[]>([])

/** Read out once. Two spaces in turn keep an equal sentence from being passed over. */
export const spoken = signal('')

let last = 0
const shownAtOnce = 3

export function tell(text: string, options: Partial<Pick<Message, 'tone' | 'more' | 'action' | 'operations'>> = {}) {
  const { tone = 'done', more = [], operations = [], action } = options
  const message: Message = { id: ++last, tone, text, more, operations, ...(action && { action }) }
  messages.value = [...messages.value, message].slice(-shownAtOnce)
  return message.id
}

export function dismiss(id: number) {
  messages.value = messages.value.filter((one) => one.id !== id)
}

/** A delete that cannot be taken back any more is not offered to be. */
export function dismissOffers(operation: string) {
  messages.value = messages.value.filter((one) => !one.operations.includes(operation))
}

/** What went wrong, for the user: the translation's sentence, or the host's. */
export const sentenceOf = (failure: Failure) => words.reasons[failure.reason] ?? failure.sentence

export function tellFailure(failure: Failure, about?: string) {
  const sentence = sentenceOf(failure)
  return tell(about ? `${about} ${sentence}` : sentence, { tone: 'problem', more: failure.detail ? [words.detail(failure.detail)] : [] })
}

let even = false
export function say(text: string) {
  even = !even
  spoken.value = even ? text : `${text} `
}
