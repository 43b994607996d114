import type { FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import { profiles, started, startFailure, type View, view, views } from '../state/app.ts'
import { begin, openView } from '../state/start.ts'
import { takeBackLast } from '../state/undo.ts'
import { words } from '../strings.ts'
import { CleanupView } from './CleanupView.tsx'
import { ConversationDetail } from './ConversationDetail.tsx'
import { ConversationList, deleteChosen } from './ConversationList.tsx'
import { DeleteDialog } from './DeleteDialog.tsx'
import { DeleteManyDialog } from './DeleteManyDialog.tsx'
import { Banner, Messages } from './Messages.tsx'
import { Empty, Problem } from './Parts.tsx'
import { ForgetDialog, ReceiptDetail, ReceiptsList } from './ReceiptsView.tsx'
import { ShortcutsDialog } from './ShortcutsDialog.tsx'
import { Sidebar } from './Sidebar.tsx'
import { PurgeDialog, TrashDetail, TrashEntries } from './TrashView.tsx'

const openDetail = () => document.getElementById('detail')?.focus()

const panes: Record<
  Exclude<View, 'cleanup'>,
  { list: FunctionComponent<{ onOpen: () => void }>; detail: FunctionComponent; name: string }
> = {
  conversations: { list: ConversationList, detail: ConversationDetail, name: words.conversation.label },
  trash: { list: TrashEntries, detail: TrashDetail, name: words.trash.entry },
  receipts: { list: ReceiptsList, detail: ReceiptDetail, name: words.receipts.receipt },
}

export function App() {
  useEffect(() => {
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
  return (
    <>
      {view.value !== 'cleanup' && (
        <a class="skip" href="#list" onClick={skipTo('list')}>
          {words.skip.list}
        </a>
      )}
      <a class="skip" href="#detail" onClick={skipTo('detail')}>
        {words.skip.detail}
      </a>
      <div class="place">
        <div class="window">
          <Sidebar />
          <div class="content">
            <Banner />
            {startFailure.value ? (
              <Problem failure={startFailure.value} onAgain={() => void begin()} />
            ) : started.value && profiles.value.length === 0 ? (
              <Empty icon="chat" title={words.noProfile} hint={words.noProfileHint} />
            ) : (
              <Panes />
            )}
          </div>
        </div>
      </div>
      <Messages />
      <DeleteDialog />
      <DeleteManyDialog />
      <PurgeDialog />
      <ForgetDialog />
      <ShortcutsDialog />
    </>
  )
}

function Panes() {
  if (view.value === 'cleanup') {
    return (
      <main id="detail" class="detail detail-alone" tabIndex={-1} aria-label={words.cleanup.label}>
        <CleanupView />
      </main>
    )
  }
  const { list: List, detail: Detail, name } = panes[view.value]
  return (
    <main class="panes" key={view.value}>
      <section id="list" class="list" aria-label={words.sidebar[view.value]}>
        <List onOpen={openDetail} />
      </section>
      <section id="detail" class="detail" tabIndex={-1} aria-label={name}>
        <Detail />
      </section>
    </main>
  )
}

/** In a page with a list the way to it is the list itself, since that takes the keys. */
const focusPane = (name: 'list' | 'detail') =>
  (name === 'list' ? document.querySelector<HTMLElement>('#list [role=listbox]') : document.getElementById('detail'))?.focus()

const skipTo = (name: 'list' | 'detail') => (event: Event) => {
  event.preventDefault()
  focusPane(name)
}

const isText = (target: EventTarget | null) => target instanceof HTMLInputElement && (target.type === 'search' || target.type === 'text')

/** The key that deletes, also where a keyboard has none of that name. */
const isDelete = (event: KeyboardEvent) => event.key === 'Delete' || (event.key === 'Backspace' && event.metaKey)

function onKeyDown(event: KeyboardEvent) {
  if (document.querySelector('dialog[open]')) return
  const command = (event.ctrlKey || event.metaKey) && !event.altKey
  const key = event.key.toLowerCase()
  if (command && key === 'f' && !event.shiftKey) {
    openView('conversations')
    // The view may only just come into the document.
    requestAnimationFrame(() => {
      const field = document.getElementById('search') as HTMLInputElement | null
      field?.focus()
      field?.select()
    })
  } else if (command && /^[1-4]$/.test(key)) {
    openView(views[Number(key) - 1] as View)
    requestAnimationFrame(() => focusPane(document.querySelector('#list [role=listbox]') ? 'list' : 'detail'))
  } else if (command && key === 'z' && !event.shiftKey && !isText(event.target)) void takeBackLast()
  else if (isDelete(event) && view.value === 'conversations' && !isText(event.target)) deleteChosen()
  else if (event.key === 'Escape' && view.value !== 'cleanup') focusPane('list')
  else if (event.key === 'F6') nextPane(event.shiftKey)
  else return
  event.preventDefault()
}

function nextPane(backwards: boolean) {
  const stops = [
    document.querySelector<HTMLElement>('nav [aria-current=page]'),
    document.querySelector<HTMLElement>('#list [role=listbox]') ?? document.querySelector<HTMLElement>('#list button'),
    document.getElementById('detail'),
  ].filter((one) => one !== null)
  const at = stops.findIndex((stop) => stop === document.activeElement || stop.contains(document.activeElement))
  stops.at((at + (backwards ? -1 : 1)) % stops.length)?.focus()
}
