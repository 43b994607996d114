import { words } from '../strings.ts'
import { ask, profileKey } from './app.ts'
import { sentenceOf } from './messages.ts'

/** Writes a copy of a conversation to a file that the user names. What it answers is told where the user looks; null: they chose no file. */
export async function saveCopy(root: string, title: string): Promise<{ tone: 'done' | 'problem'; text: string } | null> {
  const reply = await ask((host) => host.saveCopy(profileKey.value, root, suggestedName(title)))
  if (!reply.ok) return { tone: 'problem', text: `${words.copy.failed} ${sentenceOf(reply.failure)}` }
  if (reply.value.name === null) return null
  return { tone: 'done', text: words.conversation.saved(reply.value.name, words.format.size(reply.value.bytes ?? 0)) }
}

/** Letters and digits of any language stay, as does a hyphen; what a file system may not like becomes a space. */
const suggestedName = (title: string) =>
  title
    .replace(/[^\p{L}\p{M}\p{N}-]+/gu, ' ')
    .trim()
    .slice(0, 60)
    .trim() || words.copy.name
