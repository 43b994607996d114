// Made by scripts/generate.mjs from rpc.discover. Do not edit: run `npm run generate`.

import type { Call, CallOptions, Progress } from './types.js'

/** What protects a session from being deleted: somebody is at work in it. */
export type Guard = {
  /** the session that is in use */
  session_id: string
  /** turn_lease, compression_lock, admission (a request that is not settled), or worker */
  kind: string
  /** who holds it, as the Agent wrote it; for admission and worker the id of the request or of the execution */
  holder: string
  /** seconds since 1970; absent for a guard that never runs out */
  expires_at?: number
}

/** Something that a delete does not remove: how many of which kind, and why. */
export type Remainder = {
  /** what it is, a stable word: final_responses, worker_results and mutation_receipts are retained; gateway_routing, system_prompts and gateway.local_legacy are left behind */
  kind: string
  /** how many */
  count: number
  /** why it stays, as one line for a human */
  why: string
}

/** What of a deleted conversation can still be read in the files of the store. */
export type EraseReport = {
  /** this_delete: the pages that this delete freed are overwritten; kept_until: its rows are in the trash for a while */
  pages: string
  /** for kept_until: when they go, in seconds since 1970 */
  kept_until?: number
  /** purged: nothing of a deleted message is left in a full-text index; pending: something may be, since the purge was stopped, the store was busy, an index is damaged or has entries of messages that another program removed, or this build cannot merge it; not_asked */
  indexes: string
  /** the store's log. truncated: it is empty, or there is none; busy: it may not be, since somebody reads an older state or writes all the time, or the purge was stopped before; not_asked */
  wal: string
}

/** A session of which a file could not be removed yet, and why. */
export type PendingCleanup = {
  /** whose file it is; absent where that is not known: one that an older delete left */
  session_id?: string
  /** session_live: a session of this id is there; artifact_stuck: a file could not be removed; unsafe_id: the id can be no file name; media_failed: a file that the rows named could not be removed */
  cause: string
}

/** What deletes have left to clean up in a home. It is tried again unasked. */
export type CleanupReport = {
  /** nothing is pending, and no manifest is unreadable */
  complete: boolean
  /** what could not go yet; it is tried again */
  pending: PendingCleanup[]
  /** names of manifests that cannot be read */
  unreadable: string[]
}

/** How far the purge of a full-text index is. */
export type PurgeProgress = {
  /** the full-text index that is being purged */
  index: string
  /** how many steps were taken at it */
  steps: number
}

/** What `cleanup.run` takes. */
export type CleanupRunParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
}

/** What `cleanup.run` answers. */
export type CleanupRunResult = CleanupReport & {
  /** the ids that are settled by this run: nothing is left of their files */
  removed_ids: string[]
  /** what went wrong, as one line for a human; where nothing could be done at all, it is an error with that reason */
  detail?: string
}

/** What `cleanup.status` takes. */
export type CleanupStatusParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
}

/** What `cleanup.status` answers. */
export type CleanupStatusResult = CleanupWatchResult & {
  /** when this process last worked through the home, in seconds since 1970; absent where it has not */
  last_run?: number
  /** what that run left; absent where there was none */
  cleanup?: CleanupReport
}

/** What `cleanup.watch` takes. */
export type CleanupWatchParams = {
  /** the Agent profile's folder; it need not be there yet */
  profile_home: string
  /** whether it is watched from now on */
  enabled: boolean
}

/** What `cleanup.watch` answers. */
export type CleanupWatchResult = {
  /** the resolved path */
  profile_home: string
  /** whether the home is watched now */
  watched: boolean
  /** events: the system tells of changes; polling: the sidecar looks every two seconds */
  how?: string
  /** why the home is polled, as one line for a human */
  why?: string
}

/** What `receipts.forget` takes. */
export type ReceiptsForgetParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
  /** the newest one to forget; every consumer has to have staged all up to it */
  through_sequence: number
}

/** What `receipts.forget` answers. */
export type ReceiptsForgetResult = {
  /** how many are gone; their sequences are never given again */
  removed: number
}

/** What `receipts.get` takes. */
export type ReceiptsGetParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
  /** of the delete: receipt in its result */
  operation_id: string
}

/** What `receipts.get` answers. */
export type ReceiptsGetResult = {
  /** what the receipt says; null where this store has no such receipt, or none any more */
  deletion: Record<string, unknown> | null
}

/** What `receipts.list` takes. */
export type ReceiptsListParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
  /** the cursor: receipts behind it are listed; 0 where absent */
  after_sequence?: number
  /** how many may come at once; 100 where absent */
  limit?: number
}

/** What `receipts.list` answers. */
export type ReceiptsListResult = {
  /** those behind the cursor, by sequence, from one snapshot; a page ends early, but not before its first, where they are long (some 4 MiB) */
  receipts: {
    /** its place, never given twice */
    sequence: number
    /** what the receipt says, as it was written: operation_id, reason, surface, store_id, profile_home, identities */
    deletion: Record<string, unknown> | null
  }[]
  /** the cursor for the next page, after_sequence where this one is empty; where it is head, or the page is empty, there are no more for now */
  next_after: number
  /** the newest sequence that this store ever gave; 0 where it gave none */
  head: number
}

/** What `rpc.cancel` takes. */
export type RpcCancelParams = {
  /** the id of the request to cancel, spelled as it was sent */
  id: number | string
}

/** What `rpc.cancel` answers. */
export type RpcCancelResult = {
  /** whether there was such a call; it answers too */
  cancelled: boolean
  /** not_active: no call with this id is in flight */
  reason?: string
}

/** What `rpc.discover` takes. */
export type RpcDiscoverParams = Record<string, never>

/** What `rpc.discover` answers. */
export type RpcDiscoverResult = Record<string, unknown>

/** What `rpc.methods` takes. */
export type RpcMethodsParams = Record<string, never>

/** What `rpc.methods` answers. */
export type RpcMethodsResult = {
  /** the names of all methods, sorted */
  methods: string[]
}

/** What `runtime.handshake` takes. */
export type RuntimeHandshakeParams = {
  /** the version of the protocol that the host speaks: 1 */
  rpc_version: number
  /** the folder of the installed Agent, where the host knows it; it decides which path a delete takes. One that cannot be listed is -32602 here, and io_error later */
  agent_dir?: string
  /** the home of the base profile, whose store keeps the routes of all profiles; what a crash left there is finished in the background */
  base_home?: string
  /** homes to watch from now on; they need not be there yet. The list in its order is part of the handshake */
  watch?: string[]
}

/** What `runtime.handshake` answers. */
export type RuntimeHandshakeResult = {
  /** the version of the protocol that the sidecar speaks */
  rpc_version: number
  /** of the sidecar */
  version: string
  /** of the sidecar's process */
  pid: number
  /** of the SQLite that is built in */
  sqlite_version: string
  /** always true: a build without full-text indexes does not start */
  fts5: boolean
  /** what this build can do beside its methods, sorted: options of a delete, its paths, receipts, watch */
  capabilities: string[]
  /** what was found of the installed Agent */
  agent: {
    /** whether the host named the Agent's folder */
    known: boolean
    /** that folder, as an absolute path */
    dir?: string
    /** whether the Agent can retire conversations: false for one that is older than the runtime ledger */
    can_retire?: boolean
  }
}

/** What `runtime.shutdown` takes. */
export type RuntimeShutdownParams = {
  /** the exit status of the process, 0 to 255; 0 where absent */
  exit_code?: number
}

/** What `runtime.shutdown` answers. */
export type RuntimeShutdownResult = {
  /** always true */
  ok: boolean
}

/** What `runtime.status` takes. */
export type RuntimeStatusParams = Record<string, never>

/** What `runtime.status` answers. */
export type RuntimeStatusResult = {
  /** since the start of the process */
  uptime_seconds: number
  /** how busy the sidecar is */
  calls: {
    /** calls that run now, this one included */
    in_flight: number
    /** how many may run at once */
    limit: number
  }
  /** the homes that are watched */
  watched: {
    /** the resolved path, or as it was named where no such home is there */
    profile_home: string
    /** events: the system tells of changes; polling: the sidecar looks every two seconds */
    how?: string
    /** why the home is polled, as one line for a human */
    why?: string
  }[]
  /** the homes that have something left to clean up, by their resolved paths */
  homes: {
    /** the resolved path */
    profile_home: string
    /** what could not go yet; it is tried again */
    pending: PendingCleanup[]
    /** names of manifests that cannot be read */
    unreadable: string[]
  }[]
  /** what the process has done since its start */
  counters: {
    /** calls answered since the start */
    answered: number
    /** deletes whose rows are gone */
    deletes: number
    /** deletes that were refused or failed and changed nothing */
    refused: number
    /** ids deleted or swept */
    sessions_deleted: number
    /** deletes that left a file of their own */
    cleanup_pending: number
    /** runs over what deletes left, before and after each delete, asked for, and unasked */
    cleanup_runs: number
  }
}

/** What `state_db.compact` takes. */
export type StateDbCompactParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
}

/** What `state_db.compact` answers. */
export type StateDbCompactResult = {
  /** what state.db and its log took on the disk before */
  bytes_before: number
  /** what they take now */
  bytes_after: number
  /** truncated; or busy: somebody still reads the older state, and the space comes back later */
  wal: string
}

/** What `state_db.compact` may report on its way. */
export type StateDbCompactEvents =
  | {
    /** The compact is further, or in its next phase. */
    event: 'progress'
    data: {
      /** vacuum: the store is rewritten into its log; then checkpoint: the log is moved into its file */
      phase: 'vacuum' | 'checkpoint'
      /** how far the phase is, as far as the size of the log shows it */
      bytes: number
      /** how far it goes */
      of: number
    }
  }

/** What `state_db.delete_cli_session` takes. */
export type StateDbDeleteCliSessionParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
  /** true: take the segments that continue the session too, as the canonical path always does; anything else is false */
  include_compression_lineage?: boolean
  /** true: start at the conversation's first segment, with the lineage; anything else is false */
  whole_conversation?: boolean
  /** the ids that the user agreed to, from a preview, in any order; any other set is refused with plan_changed */
  expected_ids?: string[]
  /** the session to delete */
  session_id: string
  /** keep what goes in the trash for so many days, so that it can be taken back; where absent it is gone at once */
  keep_days?: number
  /** true: afterwards rid the full-text indexes of deleted words, and empty the store's log; anything else is false */
  purge_index?: boolean
}

/** What `state_db.delete_cli_session` answers. */
export type StateDbDeleteCliSessionResult = {
  /** the rows of this delete are gone and its artifacts are */
  ok: boolean
  /** the ids whose rows are gone; absent where nothing was removed. Legacy path: newest segment first, each followed by its delegates; canonical path: the one that was asked for (with whole_conversation the first segment), then the others sorted */
  deleted_ids?: string[]
  /** active_turn or runtime_history_unsupported, for older hosts; reason repeats it */
  refused?: string
  /** why ok is false, a stable word */
  reason?: string
  /** the reason as one line of at most 500 characters, for the log and for whoever helps */
  detail?: string
  /** legacy; or canonical, where the store has the runtime ledger */
  path?: string
  /** whether the requested row was there; a session that is not there deletes fine */
  existed?: boolean
  /** for active_turn: what protects the session */
  guard?: Guard
  /** for plan_changed: what a delete would do now, as state_db.preview_delete tells it */
  plan?: StateDbPreviewDeleteResult
  /** what is left to clean up in the whole home, older deletes included; theirs never make this one fail */
  cleanup?: CleanupReport
  /** the operation_id of the deletion receipt; absent where no row was there */
  receipt?: string
  /** with keep_days: by what the conversation can be taken back, and until when; absent where no row was there */
  trash?: {
    /** what trash.restore takes */
    operation_id: string
    /** when it goes for good, in seconds since 1970 */
    keep_until: number
  }
  /** what the canonical path keeps on purpose, such as the answers to settled requests */
  retained?: Remainder[]
  /** what the path does not remove though it concerned the session: routes that still name it, prompts that no session uses any more */
  left_behind?: Remainder[]
  /** full-text indexes that the Agent has to rebuild, because this build lacks their tokenizer */
  fts_stale?: string[]
  /** what can still be read of it in the store's files; absent where nothing was removed */
  erase?: EraseReport
}

/** What `state_db.delete_cli_session` may report on its way. */
export type StateDbDeleteCliSessionEvents =
  | {
    /** The purge of an index has taken another step. */
    event: 'purge'
    data: PurgeProgress
  }

/** What `state_db.delete_sessions` takes. */
export type StateDbDeleteSessionsParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
  /** true: take the segments that continue the session too, as the canonical path always does; anything else is false */
  include_compression_lineage?: boolean
  /** true: start at the conversation's first segment, with the lineage; anything else is false */
  whole_conversation?: boolean
  /** the sessions to delete, in this order */
  session_ids: string[]
  /** by session id, what the user agreed to for each: as for state_db.delete_cli_session */
  expected_ids?: Record<string, string[]>
  /** keep what goes in the trash for so many days, so that it can be taken back; where absent it is gone at once */
  keep_days?: number
  /** true: afterwards rid the full-text indexes of deleted words, and empty the store's log; anything else is false */
  purge_index?: boolean
}

/** What `state_db.delete_sessions` answers. */
export type StateDbDeleteSessionsResult = {
  /** one for each of session_ids, in their order */
  results: (StateDbDeleteCliSessionResult & {
    /** the one of session_ids that this is about */
    session_id: string
    /** the id whose delete took this one with it, or that is listed twice; then nothing else is said but ok */
    taken_by?: string
  })[]
  /** whether a cancel left some of them alone */
  cancelled: boolean
}

/** What `state_db.delete_sessions` may report on its way. */
export type StateDbDeleteSessionsEvents =
  | {
    /** Another session is settled. */
    event: 'progress'
    data: {
      /** how many of session_ids are settled, deleted or not */
      done: number
      /** how many there are */
      total: number
      /** the one that was settled last */
      session_id: string
    }
  }
  | {
    /** The purge of an index has taken another step. */
    event: 'purge'
    data: PurgeProgress
  }

/** What `state_db.expiring_fences` takes. */
export type StateDbExpiringFencesParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
  /** the ids to ask about */
  session_ids: string[]
}

/** What `state_db.expiring_fences` answers. */
export type StateDbExpiringFencesResult = {
  /** those whose own tombstone expires, each once, in the order asked */
  session_ids: string[]
}

/** What `state_db.export_conversation` takes. */
export type StateDbExportConversationParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
  /** true: take the segments that continue the session too, as the canonical path always does; anything else is false */
  include_compression_lineage?: boolean
  /** true: start at the conversation's first segment, with the lineage; anything else is false */
  whole_conversation?: boolean
  /** the session to write out, with all that a delete of it would remove */
  session_id: string
  /** the absolute path of the new file; one that is taken is never overwritten */
  to: string
}

/** What `state_db.export_conversation` answers. */
export type StateDbExportConversationResult = {
  /** the file that was made, as the call named it */
  path: string
  /** its size */
  bytes: number
  /** the sessions in it, in the order of deleted_ids */
  ids: string[]
  /** by table, how many rows are in it */
  rows: Record<string, number>
}

/** What `state_db.features` takes. */
export type StateDbFeaturesParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
}

/** What `state_db.features` answers. */
export type StateDbFeaturesResult = {
  /** legacy or canonical: the path that a delete would take now; absent where none applies */
  path?: string
  /** why no path applies */
  reason?: string
  /** the reason as one line for a human */
  detail?: string
  /** what the store says of itself; absent where it does not */
  schema_version?: number
  /** the tables that matter to this program: whether they are there */
  tables: Record<string, boolean>
  /** whether a running turn can be seen */
  guards: boolean
  /** the full-text indexes */
  fts: {
    /** of its table */
    name: string
    /** what it takes words apart with, and how */
    tokenizer: string
    /** whether this build can read and write it */
    usable: boolean
  }[]
  /** whether there is a table of deletion receipts */
  receipts: boolean
  /** wal, for a store that an Agent uses */
  journal_mode: string
  /** the size of state.db */
  bytes: number
  /** the size of its write-ahead log; 0 where there is none */
  wal_bytes: number
  /** how many sessions are in it; absent without such a table */
  sessions?: number
  /** what the choice of the path looks for and does not find, as table or table.column */
  missing: string[]
}

/** What `state_db.fence_shared_routes` takes. */
export type StateDbFenceSharedRoutesParams = {
  /** the home that the sessions were deleted from */
  profile_home: string
  /** the home of the base profile, whose routes all profiles share */
  base_home: string
  /** sessions that have a tombstone in profile_home; one without is -32602, and then none is fenced */
  session_ids: string[]
  /** where their routes lie; the profile's own where absent, which a folder whose name no key can carry does not have */
  namespace?: string
}

/** What `state_db.fence_shared_routes` answers. */
export type StateDbFenceSharedRoutesResult = {
  /** sessions whose routes are fenced now; 0 where the base home needs no fence: it is not there, or keeps no routes */
  fenced: number
  /** routes that named one of them and are gone */
  routes_removed: number
  /** older fences of routes that had lasted their time and are gone */
  reclaimed: number
}

/** What `state_db.first_generation` takes. */
export type StateDbFirstGenerationParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
  /** the ids that the conversation may have, in the order of their generations */
  candidates: string[]
  /** ids that may be taken although they are retired, for an exact retry; says nothing of one that is not retired */
  pinned?: string[]
  /** ids that may not be taken although they are not retired; says nothing of one that is */
  spent?: string[]
}

/** What `state_db.first_generation` answers. */
export type StateDbFirstGenerationResult = {
  /** the place of the first candidate that may be taken, from 0 */
  generation: number
  /** that candidate */
  session_id: string
}

/** What `state_db.has_mutation_receipt` takes. */
export type StateDbHasMutationReceiptParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
  /** who asked for the change; any text, hashed as it is */
  principal_id: string
  /** the session that was to be changed; any text */
  session_id: string
  /** the request's id, as the principal gave it */
  request_id: string
}

/** What `state_db.has_mutation_receipt` answers. */
export type StateDbHasMutationReceiptResult = {
  /** whether the receipt of that very request is there */
  found: boolean
}

/** What `state_db.keep_passed_fences` takes. */
export type StateDbKeepPassedFencesParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
  /** as for state_db.first_generation */
  candidates: string[]
  /** the one of them that is bound now; the fences of those before it are kept for good */
  session_id: string
}

/** What `state_db.keep_passed_fences` answers. */
export type StateDbKeepPassedFencesResult = {
  /** false: one of those before it has no fence any more, and nothing was changed */
  kept: boolean
}

/** What `state_db.list_conversations` takes. */
export type StateDbListConversationsParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
  /** at most so many conversations, 1 to 1000; 50 where absent */
  limit?: number
  /** the next of an earlier page, as it was; absent for the first page */
  before?: string
  /** only conversations with a message that holds all of these words, of which the last may be the beginning of one; at most 1000 characters, all of them text and none an operator; blank for all conversations */
  query?: string
}

/** What `state_db.list_conversations` answers. */
export type StateDbListConversationsResult = {
  /** newest activity first */
  conversations: {
    /** the id of the first segment */
    root: string
    /** the id of the last segment */
    newest: string
    /** of the newest segment that has one */
    title?: string
    /** where the first segment comes from, as the Agent says it */
    source?: string
    /** how many sessions follow each other in it, the first one included */
    segments: number
    /** messages of the segments and of their delegates */
    message_count: number
    /** the size of those messages' text */
    bytes: number
    /** seconds since 1970; absent where the store does not tell */
    last_activity?: number
    /** whether somebody is at work in a segment or a delegate (a turn, a request or a worker), so that a delete would be refused */
    in_use: boolean
  }[]
  /** what to send as before for the next page; absent on the last one */
  next?: string
}

/** What `state_db.preview_delete` takes. */
export type StateDbPreviewDeleteParams = StateDbDeleteCliSessionParams

/** What `state_db.preview_delete` answers. */
export type StateDbPreviewDeleteResult = {
  /** legacy; or canonical, where the store has the runtime ledger */
  path?: string
  /** whether the requested row is there */
  existed?: boolean
  /** what would go, in the order of deleted_ids */
  ids: {
    /** the session's id */
    id: string
    /** requested; compression: a segment of the same conversation; delegate: it worked for one of them; lineage: a member of the same local conversation */
    why: string
    /** absent where it has none */
    title?: string
    /** how many messages are in it */
    message_count: number
  }[]
  /** what hangs on those and stays as a conversation of its own */
  kept: {
    /** the session's id */
    id: string
    /** branch, continuation, reset, after_branch, delegate_of_compressed, not_a_delegate, or below_kept: it hangs on one that stays */
    why: string
  }[]
  /** files in sessions/ that would go */
  artifacts: {
    /** its name in sessions/ */
    name: string
    /** its size */
    bytes: number
  }[]
  /** live guards, each of which would refuse the delete */
  guards: Guard[]
  /** canonical path: files that the rows name and that would go after them, unless a row that stays names them too */
  media: {
    /** where it is */
    path: string
  }[]
  /** what the canonical path would keep on purpose, such as the answers to settled requests */
  retained: Remainder[]
  /** what the path would not remove though it concerned the session */
  left_behind: Remainder[]
  /** full-text indexes that the Agent would have to rebuild */
  fts_stale?: string[]
  /** with keep_days: what would be kept */
  trash?: {
    /** about how large the entry in the trash would be */
    bytes: number
  }
  /** why a delete would be refused; absent where it would not */
  reason?: string
  /** the reason as one line of at most 500 characters */
  detail?: string
}

/** What `state_db.reclaim_fences` takes. */
export type StateDbReclaimFencesParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
}

/** What `state_db.reclaim_fences` answers. */
export type StateDbReclaimFencesResult = {
  /** how many fences, of sessions and of routes, are gone; one whose age cannot be told stays, and a cancel or a failure leaves the rest */
  reclaimed: number
}

/** What `state_db.route_retired` takes. */
export type StateDbRouteRetiredParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
  /** the key under which the route is to be saved */
  session_key: string
  /** what is to be saved: any JSON value; the session that it names is session_id of an object */
  entry: unknown
}

/** What `state_db.route_retired` answers. */
export type StateDbRouteRetiredResult = {
  /** whether the save must be skipped */
  retired: boolean
}

/** What `state_db.session_fence` takes. */
export type StateDbSessionFenceParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
  /** the id that a new session is to have */
  session_id: string
}

/** What `state_db.session_fence` answers. */
export type StateDbSessionFenceResult = {
  /** whether a session of this id is there; it wins over a tombstone */
  live: boolean
  /** whether the id has a tombstone; any record under its key counts */
  retired: boolean
  /** whether that tombstone expires: it holds until state_db.reclaim_fences removes it; one that is malformed is permanent */
  expires: boolean
  /** when the id was retired, in seconds since 1970; absent where the tombstone does not tell */
  retired_at?: number
  /** why no session may be created under this id; null where one may be */
  conflict: {
    /** session_exists, or session_deleted */
    code: string
    /** in the words that the Agent uses */
    message: string
  } | null
}

/** What `state_db.sweep_sessions` takes. */
export type StateDbSweepSessionsParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
  /** exactly the sessions to sweep: no delegates, no other segments; one without a row gets its tombstone too */
  session_ids: string[]
}

/** What `state_db.sweep_sessions` answers. */
export type StateDbSweepSessionsResult = {
  /** the ids that are retired, in the order asked for */
  swept: string[]
  /** the ids that were left alone; they stop nobody else */
  skipped: {
    /** the id that was left alone */
    session_id: string
    /** active_turn, receipt_invalid, store_unsupported (its ledger cannot be retired), conversation_incomplete, or cancelled */
    reason: string
    /** the reason as one line for a human */
    detail?: string
  }[]
  /** in how many transactions it was done */
  transactions: number
  /** what is left to clean up in the whole home, where that is anything */
  cleanup?: CleanupReport
}

/** What `trash.list` takes. */
export type TrashListParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
}

/** What `trash.list` answers. */
export type TrashListResult = {
  /** what can be restored, the newest delete first, those of one instant by operation_id */
  entries: {
    /** of the delete: what trash.restore takes */
    operation_id: string
    /** when it was deleted, in seconds since 1970 */
    deleted_at: number
    /** when it goes for good, in seconds since 1970 */
    keep_until: number
    /** its first 1,000 characters at most; empty where there is none */
    title: string
    /** how many messages are in it */
    message_count: number
    /** the size of the file */
    bytes: number
    /** the sessions that were deleted, in the order of deleted_ids */
    ids: string[]
  }[]
  /** names of files that are named as entries are and cannot be restored; trash.purge removes one by its operation_id, which is the name up to the first dot */
  unreadable: string[]
}

/** What `trash.purge` takes. */
export type TrashPurgeParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
  /** the one entry to remove; where absent, all that could be restored */
  operation_id?: string
}

/** What `trash.purge` answers. */
export type TrashPurgeResult = {
  /** how many entries are gone */
  purged: number
  /** where no operation id was given: names of entries that cannot be read, which stay */
  unreadable?: string[]
}

/** What `trash.restore` takes. */
export type TrashRestoreParams = {
  /** the Agent profile's folder, which holds state.db */
  profile_home: string
  /** of the delete, from its result or from trash.list */
  operation_id: string
}

/** What `trash.restore` answers. */
export type TrashRestoreResult = {
  /** the new id of each session, by its old one: restored- and 16 hex digits */
  restored: Record<string, string>
  /** what was left out: columns and tables that the store has no more, as table.column */
  dropped?: string[]
  /** columns of which a value could not come back as it was: what it named is gone, or the title is taken and has a number now */
  changed?: string[]
  /** full-text indexes that the Agent has to rebuild before they find it */
  fts_stale?: string[]
  /** the conversation is back, but its file could not be removed from the trash: its text stays there until the next use of the home can remove it, or it is purged */
  entry_left?: boolean
}

/** A run over what deletes left in a home has changed something. */
export type CleanupChanged = {
  /** the resolved path */
  profile_home: string
  /** the ids of which nothing is left now; those of a delete are in its own answer alone */
  removed_ids: string[]
  /** all that is pending in the home now */
  pending: PendingCleanup[]
}

/** A delete left a deletion receipt. It is a hint to look, and may be lost: the truth is receipts.list. */
export type ReceiptsCommitted = {
  /** the home, resolved: what receipts.list takes */
  profile_home: string
  /** of the new receipt */
  sequence: number
  /** of the delete */
  operation_id: string
}

/** Every method: what it takes, what it answers, and the events that it may report on its way. */
export interface Methods {
  'cleanup.run': { params: CleanupRunParams; result: CleanupRunResult; events: never }
  'cleanup.status': { params: CleanupStatusParams; result: CleanupStatusResult; events: never }
  'cleanup.watch': { params: CleanupWatchParams; result: CleanupWatchResult; events: never }
  'receipts.forget': { params: ReceiptsForgetParams; result: ReceiptsForgetResult; events: never }
  'receipts.get': { params: ReceiptsGetParams; result: ReceiptsGetResult; events: never }
  'receipts.list': { params: ReceiptsListParams; result: ReceiptsListResult; events: never }
  'rpc.cancel': { params: RpcCancelParams; result: RpcCancelResult; events: never }
  'rpc.discover': { params: RpcDiscoverParams; result: RpcDiscoverResult; events: never }
  'rpc.methods': { params: RpcMethodsParams; result: RpcMethodsResult; events: never }
  'runtime.handshake': { params: RuntimeHandshakeParams; result: RuntimeHandshakeResult; events: never }
  'runtime.shutdown': { params: RuntimeShutdownParams; result: RuntimeShutdownResult; events: never }
  'runtime.status': { params: RuntimeStatusParams; result: RuntimeStatusResult; events: never }
  'state_db.compact': { params: StateDbCompactParams; result: StateDbCompactResult; events: StateDbCompactEvents }
  'state_db.delete_cli_session': { params: StateDbDeleteCliSessionParams; result: StateDbDeleteCliSessionResult; events: StateDbDeleteCliSessionEvents }
  'state_db.delete_sessions': { params: StateDbDeleteSessionsParams; result: StateDbDeleteSessionsResult; events: StateDbDeleteSessionsEvents }
  'state_db.expiring_fences': { params: StateDbExpiringFencesParams; result: StateDbExpiringFencesResult; events: never }
  'state_db.export_conversation': { params: StateDbExportConversationParams; result: StateDbExportConversationResult; events: never }
  'state_db.features': { params: StateDbFeaturesParams; result: StateDbFeaturesResult; events: never }
  'state_db.fence_shared_routes': { params: StateDbFenceSharedRoutesParams; result: StateDbFenceSharedRoutesResult; events: never }
  'state_db.first_generation': { params: StateDbFirstGenerationParams; result: StateDbFirstGenerationResult; events: never }
  'state_db.has_mutation_receipt': { params: StateDbHasMutationReceiptParams; result: StateDbHasMutationReceiptResult; events: never }
  'state_db.keep_passed_fences': { params: StateDbKeepPassedFencesParams; result: StateDbKeepPassedFencesResult; events: never }
  'state_db.list_conversations': { params: StateDbListConversationsParams; result: StateDbListConversationsResult; events: never }
  'state_db.preview_delete': { params: StateDbPreviewDeleteParams; result: StateDbPreviewDeleteResult; events: never }
  'state_db.reclaim_fences': { params: StateDbReclaimFencesParams; result: StateDbReclaimFencesResult; events: never }
  'state_db.route_retired': { params: StateDbRouteRetiredParams; result: StateDbRouteRetiredResult; events: never }
  'state_db.session_fence': { params: StateDbSessionFenceParams; result: StateDbSessionFenceResult; events: never }
  'state_db.sweep_sessions': { params: StateDbSweepSessionsParams; result: StateDbSweepSessionsResult; events: never }
  'trash.list': { params: TrashListParams; result: TrashListResult; events: never }
  'trash.purge': { params: TrashPurgeParams; result: TrashPurgeResult; events: never }
  'trash.restore': { params: TrashRestoreParams; result: TrashRestoreResult; events: never }
}

/** The methods `cleanup.*`. */
export interface CleanupMethods {
  /** Works through what deletes left in a home, now. */
  run(params: CleanupRunParams, options?: CallOptions<never>): Call<CleanupRunResult, Progress<never>>
  /** Tells whether a home is watched and what the newest run over it left. It looks at no file. */
  status(params: CleanupStatusParams, options?: CallOptions<never>): Call<CleanupStatusResult, Progress<never>>
  /** Begins or ends to work through what deletes left in a home as soon as it can go, unasked. */
  watch(params: CleanupWatchParams, options?: CallOptions<never>): Call<CleanupWatchResult, Progress<never>>
}

/** The methods `receipts.*`. */
export interface ReceiptsMethods {
  /** Removes the deletion receipts that every consumer has staged. */
  forget(params: ReceiptsForgetParams, options?: CallOptions<never>): Call<ReceiptsForgetResult, Progress<never>>
  /** Gives the deletion receipt of one delete. */
  get(params: ReceiptsGetParams, options?: CallOptions<never>): Call<ReceiptsGetResult, Progress<never>>
  /** Lists the deletion receipts of a store behind a cursor. */
  list(params: ReceiptsListParams, options?: CallOptions<never>): Call<ReceiptsListResult, Progress<never>>
}

/** The methods `rpc.*`. */
export interface RpcMethods {
  /** Cancels a call in flight. The cancelled call still answers. */
  cancel(params: RpcCancelParams, options?: CallOptions<never>): Call<RpcCancelResult, Progress<never>>
  /** Describes every method as an OpenRPC document. */
  discover(params?: RpcDiscoverParams, options?: CallOptions<never>): Call<RpcDiscoverResult, Progress<never>>
  /** Lists the names of all methods. */
  methods(params?: RpcMethodsParams, options?: CallOptions<never>): Call<RpcMethodsResult, Progress<never>>
}

/** The methods `runtime.*`. */
export interface RuntimeMethods {
  /** Introduces the host and the Agent. It must come before every method of a store. */
  handshake(params: RuntimeHandshakeParams, options?: CallOptions<never>): Call<RuntimeHandshakeResult, Progress<never>>
  /** Ends the process in order: calls in flight are answered first. */
  shutdown(params?: RuntimeShutdownParams, options?: CallOptions<never>): Call<RuntimeShutdownResult, Progress<never>>
  /** Tells how busy the sidecar is and what is left to clean up. */
  status(params?: RuntimeStatusParams, options?: CallOptions<never>): Call<RuntimeStatusResult, Progress<never>>
}

/** The methods `state_db.*`. */
export interface StateDbMethods {
  /** Gives the store's free pages back to the disk, if nobody is in the way. */
  compact(params: StateDbCompactParams, options?: CallOptions<StateDbCompactEvents>): Call<StateDbCompactResult, Progress<StateDbCompactEvents>>
  /** Deletes a session, its delegates and, if asked for, the segments of its conversation. */
  delete_cli_session(params: StateDbDeleteCliSessionParams, options?: CallOptions<StateDbDeleteCliSessionEvents>): Call<StateDbDeleteCliSessionResult, Progress<StateDbDeleteCliSessionEvents>>
  /** Deletes many sessions, one transaction each, with progress. */
  delete_sessions(params: StateDbDeleteSessionsParams, options?: CallOptions<StateDbDeleteSessionsEvents>): Call<StateDbDeleteSessionsResult, Progress<StateDbDeleteSessionsEvents>>
  /** Tells which ids have a tombstone that expires. */
  expiring_fences(params: StateDbExpiringFencesParams, options?: CallOptions<never>): Call<StateDbExpiringFencesResult, Progress<never>>
  /** Writes the rows that a delete would remove to a new file, as one JSON document, and changes nothing. */
  export_conversation(params: StateDbExportConversationParams, options?: CallOptions<never>): Call<StateDbExportConversationResult, Progress<never>>
  /** Tells what a store is and has, and which path a delete would take. */
  features(params: StateDbFeaturesParams, options?: CallOptions<never>): Call<StateDbFeaturesResult, Progress<never>>
  /** Keeps the routes to deleted sessions of a profile from coming back in the base home. */
  fence_shared_routes(params: StateDbFenceSharedRoutesParams, options?: CallOptions<never>): Call<StateDbFenceSharedRoutesResult, Progress<never>>
  /** Tells which of the ids that a conversation may have is the first that may be taken. */
  first_generation(params: StateDbFirstGenerationParams, options?: CallOptions<never>): Call<StateDbFirstGenerationResult, Progress<never>>
  /** Tells whether a principal's request to change a session has been done. */
  has_mutation_receipt(params: StateDbHasMutationReceiptParams, options?: CallOptions<never>): Call<StateDbHasMutationReceiptResult, Progress<never>>
  /** Keeps the fences of the ids before the one that is bound now for good. */
  keep_passed_fences(params: StateDbKeepPassedFencesParams, options?: CallOptions<never>): Call<StateDbKeepPassedFencesResult, Progress<never>>
  /** Lists conversations, newest activity first, a page at a time; with a query, only those that it is found in. */
  list_conversations(params: StateDbListConversationsParams, options?: CallOptions<never>): Call<StateDbListConversationsResult, Progress<never>>
  /** Tells what state_db.delete_cli_session would do with the same parameters, and changes nothing. */
  preview_delete(params: StateDbPreviewDeleteParams, options?: CallOptions<never>): Call<StateDbPreviewDeleteResult, Progress<never>>
  /** Removes expiring fences, of sessions and of routes, that are older than 7 days. */
  reclaim_fences(params: StateDbReclaimFencesParams, options?: CallOptions<never>): Call<StateDbReclaimFencesResult, Progress<never>>
  /** Tells whether a route must not be saved, because the session that it names was deleted. */
  route_retired(params: StateDbRouteRetiredParams, options?: CallOptions<never>): Call<StateDbRouteRetiredResult, Progress<never>>
  /** Tells whether a new session may be created under an id. */
  session_fence(params: StateDbSessionFenceParams, options?: CallOptions<never>): Call<StateDbSessionFenceResult, Progress<never>>
  /** Retires exactly the sessions named, as housekeeping: those in use are skipped, and no deletion receipt is left. */
  sweep_sessions(params: StateDbSweepSessionsParams, options?: CallOptions<never>): Call<StateDbSweepSessionsResult, Progress<never>>
}

/** The methods `trash.*`. */
export interface TrashMethods {
  /** Lists the deleted conversations that can be taken back. */
  list(params: TrashListParams, options?: CallOptions<never>): Call<TrashListResult, Progress<never>>
  /** Removes one deleted conversation, or all, from the trash for good. */
  purge(params: TrashPurgeParams, options?: CallOptions<never>): Call<TrashPurgeResult, Progress<never>>
  /** Brings a deleted conversation back, under new ids. */
  restore(params: TrashRestoreParams, options?: CallOptions<never>): Call<TrashRestoreResult, Progress<never>>
}

/** The methods, by the first part of their names. */
export interface MethodGroups {
  readonly cleanup: CleanupMethods
  readonly receipts: ReceiptsMethods
  readonly rpc: RpcMethods
  readonly runtime: RuntimeMethods
  readonly state_db: StateDbMethods
  readonly trash: TrashMethods
}

/** What the sidecar tells unasked. */
export interface Notifications {
  'cleanup.changed': CleanupChanged
  'receipts.committed': ReceiptsCommitted
}

/** The names of all methods. */
export const methodNames = [
  'cleanup.run',
  'cleanup.status',
  'cleanup.watch',
  'receipts.forget',
  'receipts.get',
  'receipts.list',
  'rpc.cancel',
  'rpc.discover',
  'rpc.methods',
  'runtime.handshake',
  'runtime.shutdown',
  'runtime.status',
  'state_db.compact',
  'state_db.delete_cli_session',
  'state_db.delete_sessions',
  'state_db.expiring_fences',
  'state_db.export_conversation',
  'state_db.features',
  'state_db.fence_shared_routes',
  'state_db.first_generation',
  'state_db.has_mutation_receipt',
  'state_db.keep_passed_fences',
  'state_db.list_conversations',
  'state_db.preview_delete',
  'state_db.reclaim_fences',
  'state_db.route_retired',
  'state_db.session_fence',
  'state_db.sweep_sessions',
  'trash.list',
  'trash.purge',
  'trash.restore',
] as const satisfies readonly (keyof Methods)[]

/** For each reason whether asking again may help, and what to tell the user. */
export const reasons = {
  active_turn: { retryable: true, sentence: "This conversation is in use right now. Try again when the reply is finished." },
  already_handshaken: { retryable: false, sentence: "The program that started the sidecar introduced itself twice, differently." },
  cancelled: { retryable: true, sentence: "This was cancelled; what was not done yet stays as it was." },
  cleanup_pending: { retryable: true, sentence: "The conversation is deleted, but some of its files could not be removed yet." },
  conversation_incomplete: { retryable: true, sentence: "Another part of this conversation has to stay for now, so all of it stays." },
  cursor_invalid: { retryable: false, sentence: "This history never gave so high a number. If it did once, it was put back to an earlier state, and what was read from it has to be compared anew." },
  fts_unavailable: { retryable: false, sentence: "The search index of this history cannot be updated, so nothing was changed." },
  generations_exhausted: { retryable: false, sentence: "Every name for this conversation has been used. Start a new one." },
  handshake_required: { retryable: false, sentence: "The program that started the sidecar did not introduce itself first." },
  io_error: { retryable: true, sentence: "The files of this profile could not be read or written. Check the disk and the permissions." },
  lineage_ambiguous: { retryable: false, sentence: "It is not certain which parts belong to this conversation, so nothing was deleted." },
  lock_timeout: { retryable: true, sentence: "Another program is working in this profile. Try again in a moment." },
  manifest_failed: { retryable: true, sentence: "The clean-up could not be prepared, so nothing was deleted. Check the free space and the permissions of the profile." },
  not_found: { retryable: false, sentence: "This conversation is not in the trash any more." },
  plan_changed: { retryable: false, sentence: "Something was added to this conversation meanwhile. Look at it again before you delete it." },
  receipt_invalid: { retryable: false, sentence: "The record of this conversation contradicts itself, so nothing was deleted." },
  receipts_schema_missing: { retryable: false, sentence: "This history has no record of deleted conversations, so nobody can say what was deleted." },
  runtime_history_unsupported: { retryable: false, sentence: "A newer version of the Agent wrote this conversation. Update the Agent to delete it." },
  session_deleted: { retryable: false, sentence: "A conversation of this name was deleted; the name cannot be used again." },
  session_exists: { retryable: false, sentence: "A conversation of this name exists already." },
  shutting_down: { retryable: true, sentence: "The sidecar is closing. Try again when it has started anew." },
  sidecar_busy: { retryable: true, sentence: "Too much is going on at once. Try again in a moment." },
  sidecar_rpc_version_mismatch: { retryable: false, sentence: "The app and its sidecar are of different versions. Reinstall or update the app." },
  store_busy: { retryable: true, sentence: "The Agent is busy saving. Try again in a moment." },
  store_corrupt: { retryable: false, sentence: "The conversation history is damaged, so nothing was changed." },
  store_missing: { retryable: false, sentence: "There is no conversation history in this profile." },
  store_unsupported: { retryable: false, sentence: "This history is of a kind that cannot be changed safely, so nothing was changed." },
  trash_damaged: { retryable: false, sentence: "What was kept of this conversation is damaged and cannot be brought back." },
  write_guard_unavailable: { retryable: false, sentence: "This version of the Agent cannot show whether a conversation is in use, so nothing was changed." },
} as const
