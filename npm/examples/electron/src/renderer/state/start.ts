import { signal } from '@preact/signals'
import type { Bridge, HostEvent } from '../../bridge.ts'
import { words } from '../strings.ts'
import { ask, chooseFirstProfile, connect, profileKey, startFailure, type View, view } from './app.ts'
import { cleanup, cleanupChanged, readCleanup } from './cleanup.ts'
import { forgetList, refresh } from './conversations.ts'
import { progressOfMany, purgingMany } from './delete-many.ts'
import { purgingOne } from './delete-one.ts'
import { lookAgain, refreshAll } from './preview.ts'
import { clearReceipts, readReceipts } from './receipts.ts'
import { forgetTrash, readTrash } from './trash.ts'

// The beginning, and what the host tells unasked.

/** What the user should know of the sidecar. null: it runs, and always did or has said so. */
export const banner = signal<{ readonly state: 'restarting' | 'failed' | 'recovered'; readonly sentence: string } | null>(null)

const recoveredShown = 8_000
let ends: ReturnType<typeof setTimeout> | undefined

export async function start(host: Bridge) {
  connect(host)
  host.listen(heard)
  window.addEventListener('focus', lookedAtAgain)
  document.addEventListener('visibilitychange', () => document.hidden || lookedAtAgain())
  await begin()
}

/** Asks which profiles there are, and reads the first one. What failed can be tried again. */
export async function begin() {
  const reply = await ask((to) => to.profiles())
  if (!reply.ok) {
    startFailure.value = reply.failure
    return
  }
  startFailure.value = null
  chooseFirstProfile(reply.value)
  if (reply.value.length === 0) return
  await readAll()
  // The keys are for the list at once, unless the user was quicker.
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) document.querySelector<HTMLElement>('[data-home-focus]')?.focus({ preventScroll: true })
  })
}

async function readAll() {
  await Promise.all([refresh({ anew: true }), readTrash(), readCleanup()])
}

export async function openProfile(key: string) {
  if (key === profileKey.value) return
  forgetList()
  forgetTrash()
  clearReceipts()
  cleanup.value = null
  profileKey.value = key
  if (view.value === 'receipts') void readReceipts()
  await readAll()
}

export function openView(next: View) {
  view.value = next
  // What is shown is as it is now, not as it was when it was last looked at.
  if (next === 'trash') void readTrash()
  if (next === 'receipts') void readReceipts()
  if (next === 'cleanup') void readCleanup()
  if (next === 'conversations') void refresh()
}

/** The Agent goes on while the user is elsewhere, and a page that is hidden may not be told of it. */
function lookedAtAgain() {
  if (profileKey.value === '') return
  refreshAll()
  void readTrash()
  void readCleanup()
  if (view.value === 'receipts') void readReceipts()
}

function heard(event: HostEvent) {
  switch (event.kind) {
    case 'progress':
      return progressOfMany(event.job, event.done, event.total)
    case 'purging':
      purgingOne(event.job)
      return purgingMany(event.job)
    case 'cleanup':
      return cleanupChanged(event)
    case 'receipt':
      if (event.profile === profileKey.value && view.value === 'receipts') void readReceipts()
      return
    case 'sidecar':
      return sidecarIs(event)
  }
}

function sidecarIs(event: Extract<HostEvent, { kind: 'sidecar' }>) {
  clearTimeout(ends)
  if (event.state !== 'running') {
    const fallback = event.state === 'failed' ? words.sidecar.failed : words.sidecar.restarting
    banner.value = { state: event.state, sentence: event.sentence ?? fallback }
    return
  }
  if (banner.value === null || banner.value.state === 'recovered') return
  banner.value = { state: 'recovered', sentence: words.sidecar.recovered }
  ends = setTimeout(() => (banner.value = null), recoveredShown)
  void readAll()
  lookAgain()
}
