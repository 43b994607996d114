import type { FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import { profiles, started, startFailure, type View, view } from '../state/app.ts'
import { begin } from '../state/start.ts'
import { words } from '../strings.ts'
import { CleanupView } from './CleanupView.tsx'
import { ConversationDetail } from './ConversationDetail.tsx'
import { ConversationList } from './ConversationList.tsx'
import { DeleteDialog } from './DeleteDialog.tsx'
import { DeleteManyDialog } from './DeleteManyDialog.tsx'
import { Banner, Messages } from './Messages.tsx'
import { Empty, Problem } from './Parts.tsx'
import { ForgetDialog, ReceiptDetail, ReceiptsList } from './ReceiptsView.tsx'
import { ShortcutsDialog } from './ShortcutsDialog.tsx'
import { Sidebar } from './Sidebar.tsx'
import { PurgeDialog, TrashDetail, TrashEntries } from './TrashView.tsx'
import { focusPane, onKeyDown } from './keys.ts'

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

const skipTo = (name: 'list' | 'detail') => (event: Event) => {
  event.preventDefault()
  focusPane(name)
}
