import { computed, effect, signal } from '@preact/signals'
import type { Bridge, Failure, Profile, Reply } from '../../bridge.ts'
import { failed } from '../../failed.ts'
import { words } from '../strings.ts'

// What the whole window shares: the bridge, which profile and which view is open, how it looks.

export type View = 'conversations' | 'trash' | 'receipts' | 'cleanup'
export const views: readonly View[] = ['conversations', 'trash', 'receipts', 'cleanup']
export const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

export const profiles = signal<Profile[]>([])
export const profileKey = signal('')
export const view = signal<View>('conversations')
/** Whether the host has said which profiles there are. */
export const started = signal(false)
export const startFailure = signal<Failure | null>(null)
export const shortcutsShown = signal(false)

/** Seconds since 1970, moved on every half minute, so that "until …" does not go stale on the screen. */
export const now = signal(Date.now() / 1000)
setInterval(() => (now.value = Date.now() / 1000), 30_000)

let connected: Bridge | undefined

export const bridge = (): Bridge => {
  if (!connected) throw new Error('the bridge is used before the page is connected')
  return connected
}

export function connect(to: Bridge) {
  connected = to
}

/**
 * Calls the host. A bridge that throws (the page's own connection is cut, say) is a failure like any other, so that nobody who
 * calls has to think of it.
 */
export async function ask<T>(call: (host: Bridge) => Promise<Reply<T>>): Promise<Reply<T>> {
  try {
    return await call(bridge())
  } catch (error) {
    return failed({ reason: 'no_answer', sentence: words.noAnswer, retryable: true, detail: String(error) })
  }
}

let jobs = 0

/** A name for a call that can be cancelled. It is unique among all windows of the host. */
export const newJob = () => `${Math.random().toString(36).slice(2)}-${++jobs}`

// Two wishes outlast the window. A page that may not store anything goes on without.
const remembered = (key: string) => {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}
const remember = (key: string, value: string) => {
  try {
    localStorage.setItem(key, value)
  } catch {
    return
  }
}

const storedTheme = remembered('theme') as Theme | null
export const theme = signal<Theme>(storedTheme && themes.includes(storedTheme) ? storedTheme : 'auto')

effect(() => {
  document.documentElement.dataset.theme = theme.value
  remember('theme', theme.value)
})

export function chooseFirstProfile(from: Profile[]) {
  profiles.value = from
  started.value = true
  const before = remembered('profile')
  profileKey.value = (from.find((one) => one.key === before) ?? from[0])?.key ?? ''
}

effect(() => {
  if (profileKey.value !== '') remember('profile', profileKey.value)
})

export const severalProfiles = computed(() => profiles.value.length > 1)
