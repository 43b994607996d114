import type {
  CleanupStatusResult,
  PendingCleanup,
  ReceiptsListResult,
  StateDbDeleteCliSessionResult,
  StateDbDeleteSessionsResult,
  StateDbListConversationsResult,
  StateDbPreviewDeleteResult,
  TrashListResult,
  TrashRestoreResult,
} from 'session-sidecar'

/** A profile as the page knows it: by a key, never by a path. Only the host knows where it lies. */
export type Profile = { readonly key: string; readonly name: string }

/** What went wrong, in a form that passes from the host to the page. `sentence` is for the user, `reason` for programs. */
export type Failure = {
  readonly reason: string
  readonly sentence: string
  readonly retryable: boolean
  readonly detail?: string
}

/** Every answer of the host: an error class does not survive the way to the page, so failures are values. */
export type Reply<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: Failure }

/** keep: it can be taken back for `keepDays`. erase: it is gone for good, out of the search indexes too. */
export type Mode = 'keep' | 'erase'

/** A result of a delete with the refusal in it, in words, where there is one. */
export type Outcome<T> = T & { readonly failure?: Failure }

export type DeleteOutcome = Outcome<StateDbDeleteCliSessionResult>
export type BulkOutcome = Omit<StateDbDeleteSessionsResult, 'results'> & { readonly results: Outcome<StateDbDeleteSessionsResult['results'][number]>[] }
export type Preview = Outcome<StateDbPreviewDeleteResult>

/** What is left to clean up, and whether the profile is watched. */
export type CleanupState = Omit<CleanupStatusResult, 'profile_home'>

/** What the host tells unasked. */
export type HostEvent =
  /** How far a bulk delete is. `job` is what the page named it. */
  | { readonly kind: 'progress'; readonly job: string; readonly done: number; readonly total: number }
  /** A delete now overwrites what the search indexes still hold. */
  | { readonly kind: 'purging'; readonly job: string }
  | { readonly kind: 'cleanup'; readonly profile: string; readonly pending: PendingCleanup[] }
  | { readonly kind: 'receipt'; readonly profile: string; readonly sequence: number }
  /** Whether the sidecar runs. While it does not, `sentence` says what the user should know. */
  | { readonly kind: 'sidecar'; readonly state: 'running' | 'restarting' | 'failed'; readonly sentence?: string }

/**
 * All that the page can ask for: nothing else passes the preload script or the page's own server. Every call of the host checks
 * what it is given, for a page is not to be trusted.
 */
export interface Bridge {
  profiles(): Promise<Reply<Profile[]>>
  conversations(profile: string, page: { query?: string; before?: string; limit?: number }): Promise<Reply<StateDbListConversationsResult>>
  preview(profile: string, root: string, mode: Mode): Promise<Reply<Preview>>
  /** `expectedIds`: what the user was shown. Another set deletes nothing: the outcome's reason is plan_changed, with the new plan. */
  delete(profile: string, root: string, choice: { mode: Mode; expectedIds: string[]; job: string }): Promise<Reply<DeleteOutcome>>
  deleteMany(profile: string, roots: string[], choice: { mode: Mode; expectedIds: Record<string, string[]>; job: string }): Promise<Reply<BulkOutcome>>
  /** Cancels what runs under this name. It still answers. */
  cancel(job: string): Promise<Reply<null>>
  /** Asks the user where, and writes a copy of the whole conversation there. `name` is null where the user chose nothing. */
  saveCopy(profile: string, root: string, suggestedName: string): Promise<Reply<{ name: string | null; bytes?: number }>>
  trash(profile: string): Promise<Reply<TrashListResult>>
  restore(profile: string, operationId: string): Promise<Reply<TrashRestoreResult>>
  /** Only those that the user was shown: what came into the trash since stays. */
  purge(profile: string, operationIds: string[]): Promise<Reply<{ purged: number; left?: Failure }>>
  receipts(profile: string, after: number): Promise<Reply<ReceiptsListResult>>
  forgetReceipts(profile: string, throughSequence: number): Promise<Reply<{ removed: number }>>
  cleanup(profile: string): Promise<Reply<CleanupState>>
  /** Tries now what is left to clean up. */
  cleanNow(profile: string): Promise<Reply<CleanupState>>
  /** Gives what the host tells unasked, and first how the sidecar is, where that is known; what it returns ends that. */
  listen(listener: (event: HostEvent) => void): () => void
}

declare global {
  interface Window {
    /** Put there by the preload script in Electron; in a plain page, by the page's own connection to its host. */
    readonly sidecar?: Bridge
  }
}
