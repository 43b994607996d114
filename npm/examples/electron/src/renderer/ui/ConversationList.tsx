import {
  checked,
  checkedConversations,
  conversations,
  current,
  hasMore,
  listFailure,
  phase,
  query,
  readMore,
  search,
  titleOf,
} from '../state/conversations.ts'
import { deleteChosen } from '../state/delete-chosen.ts'
import { askToDeleteMany } from '../state/delete-many.ts'
import { refreshAll } from '../state/preview.ts'
import { words } from '../strings.ts'
import type { Conversation } from '../types.ts'
import { Icon } from './Icon.tsx'
import { ListBox } from './ListBox.tsx'
import { Empty, ListBody, PaneHead, When } from './Parts.tsx'
import { Tool } from './Tool.tsx'

export function ConversationList({ onOpen }: { onOpen: () => void }) {
  const text = query.value.trim()
  const count = conversations.value.length
  return (
    <>
      <PaneHead
        title={words.list.label}
        count={phase.value === 'first' ? words.loading : (text === '' ? words.list.count : words.list.found)(count, hasMore.value)}
      >
        <Tool icon="refresh" name={words.refresh} onClick={refreshAll} />
      </PaneHead>
      <SearchField />
      <SelectionBar />
      <ListBody waiting={phase.value === 'first'} failure={listFailure.value} onAgain={refreshAll} empty={phase.value !== 'busy' && <NoConversations />}>
        {count > 0 && (
          <ListBox
            id="conversations"
            label={words.list.label}
            describedBy="list-keys"
            items={conversations.value}
            keyOf={(one) => one.root}
            row={(one) => <Row conversation={one} />}
            current={current.value}
            onCurrent={(key) => (current.value = key)}
            checked={checked.value}
            onChecked={(next) => (checked.value = next)}
            onOpen={onOpen}
            onDelete={deleteChosen}
            hasMore={hasMore.value}
            onMore={() => void readMore()}
            busy={phase.value === 'busy'}
          />
        )}
      </ListBody>
      <p id="list-keys" class="hidden">
        {words.list.keys}
      </p>
    </>
  )
}

function NoConversations() {
  const text = query.value.trim()
  return text === '' ? (
    <Empty icon="chat" title={words.list.empty} hint={words.list.emptyHint} />
  ) : (
    <Empty icon="search" title={words.list.nothingFound(text)} hint={words.list.nothingFoundHint} />
  )
}

function SearchField() {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || (event.key === 'Escape' && query.value === '')) {
      event.preventDefault()
      document.getElementById('conversations')?.focus()
    } else if (event.key === 'Escape') {
      event.preventDefault()
      search('')
    }
  }
  return (
    <search class="search">
      <Icon name="search" />
      <input
        id="search"
        type="search"
        value={query.value}
        dir="auto"
        maxLength={1000}
        placeholder={words.list.searchHint}
        aria-label={words.list.search}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => search(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {query.value !== '' && (
        <Tool
          icon="close"
          name={words.list.clearSearch}
          onClick={() => {
            search('')
            document.getElementById('search')?.focus()
          }}
        />
      )}
    </search>
  )
}

function SelectionBar() {
  const chosen = checkedConversations.value
  if (chosen.length === 0) return null
  const sum = (of: (one: Conversation) => number) => chosen.reduce((total, one) => total + of(one), 0)
  const inUse = chosen.filter((one) => one.in_use).length
  return (
    <section class="selection" aria-label={words.conversation.many(chosen.length)}>
      <div class="selection-text" role="status">
        <strong>{words.list.selected(chosen.length)}</strong>
        <span>
          {words.conversation.manyFacts(
            sum((one) => one.message_count),
            words.format.size(sum((one) => one.bytes)),
          )}
        </span>
        {inUse > 0 && <span>{words.conversation.manyInUse(inUse)}</span>}
      </div>
      <Tool icon="all" name={words.list.selectAll} onClick={() => (checked.value = new Set(conversations.value.map((one) => one.root)))} />
      <Tool icon="close" name={words.list.clearSelection} onClick={() => (checked.value = new Set())} />
      <button type="button" class="button button-danger" onClick={() => void askToDeleteMany()}>
        {words.conversation.deleteMany}
      </button>
    </section>
  )
}

const factsOf = (one: Conversation) => [
  ...(one.segments > 1 ? [words.list.parts(one.segments)] : []),
  words.list.messages(one.message_count),
  words.format.size(one.bytes),
]

function Row({ conversation }: { conversation: Conversation }) {
  const title = titleOf(conversation)
  return (
    <>
      <span class="check" data-check>
        <span class="check-box">
          <Icon name="check" />
        </span>
      </span>
      <span class="row-text">
        <span class="row-first">
          <span class={`row-title ${conversation.title?.trim() ? '' : 'untitled'}`} dir="auto" title={title}>
            {title}
          </span>
          <When seconds={conversation.last_activity} />
        </span>
        <span class="row-second">
          <span class="row-facts" dir="auto">
            {factsOf(conversation).join(' · ')}
          </span>
          {conversation.in_use && (
            <span class="tag tag-wait">
              <Icon name="clock" />
              {words.list.inUse}
            </span>
          )}
        </span>
      </span>
    </>
  )
}
