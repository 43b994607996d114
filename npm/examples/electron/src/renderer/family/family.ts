import { words } from '../strings.ts'
import type { Preview } from '../types.ts'

// A conversation's family as the preview tells it: what goes, what stays, and why.

export type Member = {
  readonly id: string
  /** Its title, or its id where it has none. */
  readonly name: string
  readonly fate: 'goes' | 'stays'
  readonly role: 'part' | 'delegate' | 'kept'
  readonly why: string
  readonly messages?: number
  readonly inUse: boolean
}

/** A part of the conversation, with those that worked for it. */
export type Block = { readonly part: Member; readonly delegates: readonly Member[] }

export type Family = {
  readonly blocks: readonly Block[]
  /** Delegates of which the preview does not tell for which part they worked. */
  readonly loose: readonly Member[]
  readonly kept: readonly Member[]
  /** Whether the parts stand in the order in which they followed each other. */
  readonly ordered: boolean
  readonly goes: number
}

/**
 * The preview names no parents. On the legacy path its order tells them: the newest part first, each followed by its delegates. On the
 * canonical path the order tells nothing, and the picture claims nothing. Nor does it name the titles of what stays: `titleOf` may know.
 */
export function familyOf(preview: Preview, titleOf: (id: string) => string | undefined): Family {
  const inUse = new Set(preview.guards.map((guard) => guard.session_id))
  const ordered = preview.path === 'legacy'
  const blocks: { part: Member; delegates: Member[] }[] = []
  const loose: Member[] = []
  for (const session of preview.ids) {
    const role = session.why === 'delegate' ? 'delegate' : 'part'
    const member: Member = {
      id: session.id,
      name: session.title?.trim() || session.id,
      fate: 'goes',
      role,
      why: session.why,
      messages: session.message_count,
      inUse: inUse.has(session.id),
    }
    if (role === 'part') blocks.push({ part: member, delegates: [] })
    else (ordered ? (blocks.at(-1)?.delegates ?? loose) : loose).push(member)
  }
  const kept = preview.kept.map(
    (one): Member => ({
      id: one.id,
      name: titleOf(one.id)?.trim() || one.id,
      fate: 'stays',
      role: 'kept',
      why: one.why,
      inUse: inUse.has(one.id),
    }),
  )
  return { blocks: ordered ? blocks.reverse() : blocks, loose, kept, ordered, goes: preview.ids.length }
}

export const membersOf = (family: Family): Member[] => [
  ...family.blocks.flatMap((block) => [block.part, ...block.delegates]),
  ...family.loose,
  ...family.kept,
]

/** What stands under a member's name. */
export function lineOfMember(member: Member) {
  if (member.inUse) return words.family.inUse
  return member.messages === undefined ? words.family.why(member.why) : words.list.messages(member.messages)
}

/** The member in one sentence, for whoever does not see the picture. */
export const sentenceOfMember = (member: Member) =>
  words.family.node(member.name, lineOfMember(member), words.family.fate[member.fate], words.family.why(member.why))

/** The question of a delete, in numbers. */
export function countsOf(preview: Preview) {
  const delegates = preview.ids.filter((session) => session.why === 'delegate').length
  return {
    parts: preview.ids.length - delegates,
    delegates,
    messages: preview.ids.reduce((sum, session) => sum + session.message_count, 0),
    kept: preview.kept.length,
    files: preview.artifacts.length,
    bytes: preview.artifacts.reduce((sum, file) => sum + file.bytes, 0),
  }
}
