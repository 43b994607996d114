import { now, profileKey } from '../state/app.ts'
import { purge, purgeAsked } from '../state/purge.ts'
import { currentEntry, currentEntryId, entries, readTrash, trashFailure, trashPhase, unreadableEntries } from '../state/trash.ts'
import { takeBack } from '../state/undo.ts'
import { words } from '../strings.ts'
import type { TrashEntry } from '../types.ts'
import { Question } from './Dialog.tsx'
import { Icon } from './Icon.tsx'
import { ListBox } from './ListBox.tsx'
import { DetailHead, Empty, Facts, ListBody, PaneHead, When } from './Parts.tsx'
import { Tool } from './Tool.tsx'

const titleOf = (entry: TrashEntry) => entry.title.trim() || words.untitled

export function TrashEntries({ onOpen }: { onOpen: () => void }) {
  const count = entries.value.length
  return (
    <>
      <PaneHead title={words.trash.label} count={trashPhase.value === 'first' ? words.loading : words.trash.count(count)}>
        {count > 0 && (
          <button type="button" class="button" onClick={() => (purgeAsked.value = { all: entries.value.map((one) => one.operation_id) })}>
            {words.trash.emptyAll}
          </button>
        )}
      </PaneHead>
      <ListBody
        waiting={trashPhase.value === 'first'}
        failure={trashFailure.value}
        onAgain={() => void readTrash()}
        empty={<Empty icon="trash" title={words.trash.empty} hint={words.trash.emptyHint} />}
      >
        {count > 0 && (
          <ListBox
            id="trash"
            label={words.trash.label}
            items={entries.value}
            keyOf={(one) => one.operation_id}
            row={(one) => <Row entry={one} />}
            current={currentEntryId.value}
            onCurrent={(key) => (currentEntryId.value = key)}
            onOpen={onOpen}
            onDelete={() => currentEntry.value && (purgeAsked.value = { entry: currentEntry.value })}
          />
        )}
      </ListBody>
      <Unreadable />
    </>
  )
}

function Row({ entry }: { entry: TrashEntry }) {
  const title = titleOf(entry)
  return (
    <span class="row-text">
      <span class="row-first">
        <span class={`row-title ${entry.title.trim() ? '' : 'untitled'}`} dir="auto" title={title}>
          {title}
        </span>
        <When seconds={entry.deleted_at} />
      </span>
      <span class="row-second">
        <span class="row-facts" dir="auto">{`${words.list.messages(entry.message_count)} · ${words.format.size(entry.bytes)}`}</span>
        <span class="tag">{words.trash.keptFor(words.format.daysFrom(entry.keep_until, now.value))}</span>
      </span>
    </span>
  )
}

function Unreadable() {
  const names = unreadableEntries.value
  if (names.length === 0) return null
  return (
    <section class="unreadable" aria-label={words.trash.unreadable(names.length)}>
      <p>
        <strong>{words.trash.unreadable(names.length)}</strong> <span class="quiet">{words.trash.unreadableHint}</span>
      </p>
      <ul>
        {names.map((name) => (
          <li key={name}>
            <code dir="auto">{name}</code>
            <Tool icon="trash" name={words.trash.remove(name)} onClick={() => (purgeAsked.value = { unreadable: name })} />
          </li>
        ))}
      </ul>
    </section>
  )
}

export function TrashDetail() {
  const entry = currentEntry.value
  if (!entry) return entries.value.length > 0 ? <Empty icon="trash" title={words.trash.none} hint={words.trash.noneHint} /> : null
  const title = titleOf(entry)
  const restore = () => void takeBack([{ profile: profileKey.value, root: entry.ids[0] ?? '', title, operation: entry.operation_id }])
  return (
    <article class="detail-page" aria-labelledby="entry-title">
      <DetailHead
        id="entry-title"
        title={title}
        actions={
          <>
            <button type="button" class="button button-danger" onClick={() => (purgeAsked.value = { entry })}>
              {words.trash.purge}
            </button>
            <button type="button" class="button button-strong" onClick={restore}>
              <Icon name="undo" />
              {words.trash.restore}
            </button>
          </>
        }
      >
        <p class="quiet">{words.trash.keptFor(words.format.daysFrom(entry.keep_until, now.value))}</p>
      </DetailHead>
      <Facts
        rows={[
          [words.trash.deletedAt, words.format.dateTime(entry.deleted_at)],
          [words.trash.keepUntil, words.format.dateTime(entry.keep_until)],
          [words.trash.messages, words.format.number(entry.message_count)],
          [words.trash.size, words.format.size(entry.bytes)],
        ]}
      />
      <section aria-labelledby="entry-sessions">
        <h3 id="entry-sessions">{`${words.trash.sessions} (${words.format.number(entry.ids.length)})`}</h3>
        <ul class="files">
          {entry.ids.map((id) => (
            <li key={id}>
              <code dir="auto">{id}</code>
            </li>
          ))}
        </ul>
      </section>
    </article>
  )
}

export function PurgeDialog() {
  const asked = purgeAsked.value
  if (!asked) return null
  const { entry, unreadable, all = [] } = asked
  const name = entry ? titleOf(entry) : unreadable
  return (
    <Question
      title={name === undefined ? words.trash.purgeAllTitle(all.length) : words.trash.purgeTitle(name)}
      body={words.trash.purgeBody}
      confirm={words.trash.purgeConfirm}
      onConfirm={() => void purge(asked)}
      onClose={() => (purgeAsked.value = null)}
    />
  )
}
