import type { Bridge, Preview, Reply } from '../bridge.ts'

// The rows that the page shows, named after what they are. They follow from the bridge, so that they cannot drift from it.

type Value<Method extends (...args: never[]) => unknown> = Awaited<ReturnType<Method>> extends Reply<infer V> ? V : never

export type ConversationPage = Value<Bridge['conversations']>
export type Conversation = ConversationPage['conversations'][number]
export type TrashList = Value<Bridge['trash']>
export type TrashEntry = TrashList['entries'][number]
export type Restored = Value<Bridge['restore']>
export type ReceiptPage = Value<Bridge['receipts']>
export type Receipt = ReceiptPage['receipts'][number]
export type CleanupState = Value<Bridge['cleanup']>
export type Deleted = Value<Bridge['delete']>
export type DeletedMany = Value<Bridge['deleteMany']>
export type DeletedOne = DeletedMany['results'][number]
export type { EraseReport as Erase, Guard, Remainder as Counted } from 'session-sidecar'
export type { Preview }
