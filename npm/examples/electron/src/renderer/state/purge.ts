import { signal } from '@preact/signals'
import type { Failure } from '../../bridge.ts'
import { words } from '../strings.ts'
import type { TrashEntry } from '../types.ts'
import { ask, profileKey } from './app.ts'
import { tell, tellFailure } from './messages.ts'
import { entries, readTrash } from './trash.ts'
import { forgetOperation, noteDelete } from './undo.ts'

// Erasing what lies in the trash.

/** What is asked about before it is erased: an entry, a file that cannot be read, or all that were shown when it was asked. */
export type PurgeAsked = { readonly entry?: TrashEntry; readonly unreadable?: string; readonly all?: readonly string[] }
export const purgeAsked = signal<PurgeAsked | null>(null)

/** How many entries one call may name. */
const atOnce = 500

export async function purge({ entry, unreadable, all = [] }: PurgeAsked) {
  const profile = profileKey.value
  const operation = unreadable === undefined ? entry?.operation_id : operationOf(unreadable)
  const shown = operation === undefined ? all : [operation]
  let purged = 0
  let left: Failure | undefined
  for (let at = 0; at < shown.length && !left; at += atOnce) {
    const reply = await ask((host) => host.purge(profile, shown.slice(at, at + atOnce)))
    if (reply.ok) purged += reply.value.purged
    left = reply.ok ? reply.value.left : reply.failure
  }
  await readTrash()
  if (purged > 0) {
    noteDelete(profile, [])
    tell(words.trash.purged(purged))
  }
  if (left) tellFailure(left)
  // What is in the trash still can be taken back still.
  const there = new Set(entries.value.map((one) => one.operation_id))
  for (const one of shown) if (!there.has(one)) forgetOperation(one)
}

/** The operation id of a file in the trash is its name up to the first dot. */
const operationOf = (name: string) => name.split('.', 1)[0] ?? name
