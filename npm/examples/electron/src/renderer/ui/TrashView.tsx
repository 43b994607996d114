import { now, profileKey } from '../state/app.ts'
import {
  currentEntry,
  currentEntryId,
  entries,
  operationOf,
  purge,
  purgeAsked,
  readTrash,
  trashFailure,
  trashPhase,
  unreadableEntries,
} from '../state/trash.ts'
import { forgetOperation, takeBack } from '../state/undo.ts'
import { words } from '../strings.ts'
import type { TrashEntry } from '../types.ts'
import { Dialog } from './Dialog.tsx'
import { Icon } from './Icon.tsx'
import { ListBox } from './ListBox.tsx'
import { Empty, Facts, PaneHead, Problem, Skeleton, When } from './Parts.tsx'

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
      {trashFailure.value && <Problem failure={trashFailure.value} onAgain={() => void readTrash()} />}
      {trashPhase.value === 'first' ? (
        <Skeleton rows={5} />
      ) : count > 0 ? (
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
      ) : (
        !trashFailure.value && <Empty icon="trash" title={words.trash.empty} hint={words.trash.emptyHint} />
      )}
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
            <button
              type="button"
              class="tool"
              title={words.trash.remove(name)}
              aria-label={words.trash.remove(name)}
              onClick={() => (purgeAsked.value = { unreadable: name })}
            >
              <Icon name="trash" />
            </button>
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
      <header class="detail-head">
        <div class="detail-titles">
          <h2 id="entry-title" dir="auto" title={title}>
            {title}
          </h2>
          <p class="quiet">{words.trash.keptFor(words.format.daysFrom(entry.keep_until, now.value))}</p>
        </div>
        <div class="detail-actions">
          <button type="button" class="button button-danger" onClick={() => (purgeAsked.value = { entry })}>
            {words.trash.purge}
          </button>
          <button type="button" class="button button-strong" onClick={restore}>
            <Icon name="undo" />
            {words.trash.restore}
          </button>
        </div>
      </header>
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
  const close = () => (purgeAsked.value = null)
  const { entry, unreadable, all = [] } = asked
  const confirm = () => {
    close()
    const operation = unreadable === undefined ? entry?.operation_id : operationOf(unreadable)
    const shown = operation === undefined ? all : [operation]
    // What is in the trash still can be taken back still.
    void purge(shown).then(() => {
      const there = new Set(entries.value.map((one) => one.operation_id))
      for (const one of shown) if (!there.has(one)) forgetOperation(one)
    })
  }
  const name = entry ? titleOf(entry) : unreadable
  return (
    <Dialog
      title={name === undefined ? words.trash.purgeAllTitle(all.length) : words.trash.purgeTitle(name)}
      tone="danger"
      onClose={close}
      footer={
        <>
          <span class="spring" />
          <button type="button" class="button" autofocus onClick={close}>
            {words.cancel}
          </button>
          <button type="button" class="button button-danger-strong" onClick={confirm}>
            {words.trash.purgeConfirm}
          </button>
        </>
      }
    >
      <p>{words.trash.purgeBody}</p>
    </Dialog>
  )
}
