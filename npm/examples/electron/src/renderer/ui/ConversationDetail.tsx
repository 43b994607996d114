import { countsOf } from '../family/family.ts'
import { FamilyView } from '../family/FamilyView.tsx'
import { currentConversation, listFailure, phase, titleOf } from '../state/conversations.ts'
import { saveCopy } from '../state/copy.ts'
import { askToDelete } from '../state/delete-one.ts'
import { tell } from '../state/messages.ts'
import { looked, refreshAll } from '../state/preview.ts'
import { words } from '../strings.ts'
import type { Preview } from '../types.ts'
import { Icon } from './Icon.tsx'
import { DetailHead, Empty, InUse, Problem, Skeleton } from './Parts.tsx'

export function ConversationDetail() {
  const conversation = currentConversation.value
  if (!conversation) {
    return phase.value === 'first' ? (
      <Skeleton rows={4} />
    ) : (
      <Empty icon="chat" title={words.conversation.none} hint={words.conversation.noneHint} />
    )
  }
  const title = titleOf(conversation)
  const facts = [
    ...(conversation.source ? [words.conversation.from(conversation.source)] : []),
    ...(conversation.segments > 1 ? [words.list.parts(conversation.segments)] : []),
    words.list.messages(conversation.message_count),
    words.format.size(conversation.bytes),
    conversation.last_activity === undefined
      ? words.list.noActivity
      : words.conversation.lastActivity(words.format.dateTime(conversation.last_activity)),
  ]
  const seen = looked.value?.root === conversation.root ? looked.value : null
  // What the list says already is not said twice.
  const toldByList = seen?.state === 'failed' && listFailure.value?.reason === seen.failure.reason
  return (
    <article class="detail-page" aria-labelledby="conversation-title">
      <DetailHead
        id="conversation-title"
        title={title}
        actions={
          <>
            <button type="button" class="button" onClick={() => void copy(conversation.root, title)}>
              <Icon name="save" />
              {words.conversation.saveCopy}
            </button>
            <button type="button" class="button button-danger" onClick={() => void askToDelete(conversation.root)}>
              <Icon name="trash" />
              {words.conversation.delete}
            </button>
          </>
        }
      >
        <p class="quiet">{facts.join(' · ')}</p>
        <p class="quiet id-line">
          {words.conversation.id} <code dir="auto">{conversation.root}</code>
        </p>
      </DetailHead>
      {seen?.state === 'failed' && !toldByList && <Problem failure={seen.failure} onAgain={refreshAll} />}
      {seen?.state === 'seen' ? (
        <Seen key={conversation.root} preview={seen.preview} title={title} onAgain={refreshAll} />
      ) : (
        seen?.state !== 'failed' && <Skeleton rows={3} />
      )}
    </article>
  )
}

async function copy(root: string, title: string) {
  const told = await saveCopy(root, title)
  if (told) tell(told.text, { tone: told.tone })
}

function Seen({ preview, title, onAgain }: { preview: Preview; title: string; onAgain: () => void }) {
  if (preview.existed === false) return <Empty icon="chat" title={words.conversation.gone} />
  return (
    <>
      {preview.guards.length > 0 ? (
        <InUse guards={preview.guards} onAgain={onAgain} />
      ) : (
        preview.failure && <Problem failure={preview.failure} onAgain={onAgain} />
      )}
      {preview.ids.length > 0 && <FamilyView preview={preview} title={title} />}
      <Besides preview={preview} />
    </>
  )
}

/** What a delete does beside the sessions: files, what stays on purpose, what is left. */
function Besides({ preview }: { preview: Preview }) {
  const { files, bytes } = countsOf(preview)
  const names = preview.artifacts.map((file) => [file.name, words.format.size(file.bytes)] as const)
  return (
    <section class="besides" aria-labelledby="besides-heading">
      <h3 id="besides-heading">{words.facts.heading}</h3>
      <ul>
        {files > 0 && <Listed summary={words.facts.files(files, words.format.size(bytes))} rows={names} />}
        {preview.media.length > 0 && (
          <Listed summary={words.facts.media(preview.media.length)} rows={preview.media.map((one) => [one.path, ''] as const)} />
        )}
        {preview.retained.map((one) => (
          <Counted key={one.kind} line={words.facts.retained(one)} count={one.count} why={words.facts.why(one)} />
        ))}
        {preview.left_behind.map((one) => (
          <Counted key={one.kind} line={words.facts.leftBehind(one)} count={one.count} why={words.facts.why(one)} />
        ))}
        {preview.fts_stale && preview.fts_stale.length > 0 && <li>{words.facts.stale(preview.fts_stale.length)}</li>}
        {files + preview.media.length + preview.retained.length + preview.left_behind.length === 0 && <li>{words.facts.nothing}</li>}
        {preview.trash && <li>{words.facts.trash(words.format.size(preview.trash.bytes))}</li>}
      </ul>
    </section>
  )
}

function Counted({ line, count, why }: { line: string; count: number; why: string }) {
  return (
    <li>
      {line} ({words.facts.number(count)}) <span class="quiet">{why}</span>
    </li>
  )
}

function Listed({ summary, rows }: { summary: string; rows: readonly (readonly [string, string])[] }) {
  return (
    <li>
      <details>
        <summary>{summary}</summary>
        <ul class="files" tabIndex={0} aria-label={summary}>
          {rows.map(([name, size]) => (
            <li key={name}>
              <code dir="auto">{name}</code> <span class="quiet">{size}</span>
            </li>
          ))}
        </ul>
      </details>
    </li>
  )
}
