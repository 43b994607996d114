import { start, type Sidecar, SidecarError } from 'session-sidecar'
import { basename } from 'node:path'
import type { Bridge, Failure, HostEvent, Mode, Reply } from '../bridge.js'
import { failed } from '../failed.js'
import { keepDays } from '../keep-days.js'
import { choiceOf, idsByRoot, idsOf, invalid, modeOf, nameOf, numberOf, recordOf, textOf } from './check.js'
import { fileName, writeCopy, type Where } from './copies.js'
import { failureOf, outcomeOf, withoutHome } from './failure.js'
import { Jobs } from './jobs.js'
import { profileAt, type Home, type Settings } from './profiles.js'

/** For how long a question may take. What changes something has no limit: it says how far it is, and can be cancelled. */
const timeout = 60_000

type SidecarState = Extract<HostEvent, { kind: 'sidecar' }>

export type HostOptions = Settings & {
  readonly where: Where
  /** Takes the lines of the log: those of the sidecar, and what went wrong here. */
  readonly log?: (line: string) => void
}

/**
 * The side of the app that is trusted: it alone knows folders and speaks with the sidecar. Electron's main process and the Node host
 * use the same.
 */
export class Host implements Bridge {
  readonly #options: HostOptions
  readonly #starting: Promise<Sidecar>
  readonly #jobs = new Jobs()
  readonly #listeners = new Set<(event: HostEvent) => void>()
  /** How the sidecar is; undefined until it was started, which is nothing to tell a user. */
  #state: SidecarState | undefined

  /** Starts the sidecar. A host whose sidecar cannot be started lives all the same, and says why. */
  constructor(options: HostOptions) {
    this.#options = options
    const { homes, agentDir, baseHome, binary, log } = options
    this.#starting = start({
      homes: homes.map(({ home }) => home),
      ...(agentDir !== undefined && { agentDir }),
      ...(baseHome !== undefined && { baseHome }),
      ...(binary !== undefined && { binary }),
      ...(log && { logger: log }),
    })
    this.#starting.then((sidecar) => this.#started(sidecar), (error) => this.#enter('failed', error))
  }

  /** The process of the sidecar; undefined while there is none. */
  async pid(): Promise<number | undefined> {
    return (await this.#starting).pid
  }

  /** Ends the sidecar in order. What runs is cancelled: it stops between two conversations, never within one. */
  async close(): Promise<void> {
    this.#listeners.clear()
    this.#jobs.cancelAll()
    const sidecar = await this.#starting.catch(() => undefined)
    await sidecar?.close()
  }

  listen(listener: (event: HostEvent) => void): () => void {
    this.#listeners.add(listener)
    if (this.#state) listener(this.#state)
    return () => void this.#listeners.delete(listener)
  }

  profiles: Bridge['profiles'] = () => this.#answer(async () => this.#options.homes.map(({ key, name }) => ({ key, name })))

  conversations: Bridge['conversations'] = (profile, page) => this.#ask(profile, (sidecar, { home }) => {
    const { query, before, limit } = recordOf(page, 'page')
    return sidecar.state_db.list_conversations({
      profile_home: home,
      ...(query !== undefined && { query: textOf(query, 'query') }),
      ...(before !== undefined && { before: nameOf(before, 'before') }),
      ...(limit !== undefined && { limit: numberOf(limit, 'limit', 1, 1_000) }),
    }, { timeout })
  })

  preview: Bridge['preview'] = (profile, root, mode) => this.#ask(profile, async (sidecar, home) => {
    const params = { profile_home: home.home, session_id: nameOf(root, 'root'), ...paramsOf(modeOf(mode)) }
    return outcomeOf(await sidecar.state_db.preview_delete(params, { timeout }), home)
  })

  delete: Bridge['delete'] = (profile, root, choice) => this.#ask(profile, (sidecar, home) => {
    const { mode, job, expectedIds } = choiceOf(choice)
    const params = { profile_home: home.home, session_id: nameOf(root, 'root'), expected_ids: idsOf(expectedIds, 'expectedIds'), ...paramsOf(mode) }
    return this.#jobs.run(job, async (signal) => outcomeOf(await sidecar.state_db.delete_cli_session(params, {
      signal,
      onProgress: () => this.#tell({ kind: 'purging', job }),
    }), home))
  })

  deleteMany: Bridge['deleteMany'] = (profile, roots, choice) => this.#ask(profile, (sidecar, home) => {
    const { mode, job, expectedIds } = choiceOf(choice)
    const ids = idsOf(roots, 'roots')
    const params = { profile_home: home.home, session_ids: ids, expected_ids: idsByRoot(expectedIds, ids), ...paramsOf(mode) }
    return this.#jobs.run(job, async (signal) => {
      const { results, cancelled } = await sidecar.state_db.delete_sessions(params, {
        signal,
        onProgress: ({ event, data }) => this.#tell(event === 'purge'
          ? { kind: 'purging', job }
          : { kind: 'progress', job, done: Number(data.done), total: Number(data.total) }),
      })
      return { cancelled, results: results.map((result) => outcomeOf(result, home)) }
    })
  })

  cancel: Bridge['cancel'] = (job) => this.#answer(async () => {
    this.#jobs.cancel(nameOf(job, 'job'))
    return null
  })

  saveCopy: Bridge['saveCopy'] = (profile, root, suggestedName) => this.#ask(profile, async (sidecar, { home }) => {
    const params = { profile_home: home, session_id: nameOf(root, 'root'), whole_conversation: true }
    const path = await this.#options.where(fileName(textOf(suggestedName, 'suggestedName')))
    if (path === undefined) return { name: null }
    const { bytes } = await writeCopy(path, (to) => sidecar.state_db.export_conversation({ ...params, to }))
    return { name: basename(path), bytes }
  })

  trash: Bridge['trash'] = (profile) => this.#ask(profile, (sidecar, { home }) => sidecar.trash.list({ profile_home: home }, { timeout }))

  restore: Bridge['restore'] = (profile, operationId) => this.#ask(profile, (sidecar, { home }) =>
    sidecar.trash.restore({ profile_home: home, operation_id: nameOf(operationId, 'operationId') }))

  purge: Bridge['purge'] = (profile, operationIds) => this.#ask(profile, async (sidecar, home) => {
    let purged = 0
    let left: Failure | undefined
    for (const operation_id of idsOf(operationIds, 'operationIds')) {
      try {
        purged += (await sidecar.trash.purge({ profile_home: home.home, operation_id })).purged
      } catch (error) {
        left = failureOf(error, home)
        if (left.reason !== 'not_found' && left.reason !== 'io_error') break
      }
    }
    return { purged, ...(left && { left }) }
  })

  receipts: Bridge['receipts'] = (profile, after) => this.#ask(profile, async (sidecar, { home }) => {
    const params = { profile_home: home, after_sequence: numberOf(after, 'after', 0, Number.MAX_SAFE_INTEGER) }
    const page = await sidecar.receipts.list(params, { timeout })
    return { ...page, receipts: page.receipts.map(({ sequence, deletion }) => ({ sequence, deletion: deletion && withoutFolder(deletion) })) }
  })

  forgetReceipts: Bridge['forgetReceipts'] = (profile, throughSequence) => this.#ask(profile, (sidecar, { home }) =>
    sidecar.receipts.forget({ profile_home: home, through_sequence: numberOf(throughSequence, 'throughSequence', 1, Number.MAX_SAFE_INTEGER) }))

  cleanup: Bridge['cleanup'] = (profile) => this.#ask(profile, cleanupState)

  cleanNow: Bridge['cleanNow'] = (profile) => this.#ask(profile, async (sidecar, home) => {
    await sidecar.cleanup.run({ profile_home: home.home })
    return cleanupState(sidecar, home)
  })

  /** Answers a call about a profile, of which the page says the key. */
  #ask<T>(profile: unknown, ask: (sidecar: Sidecar, home: Home) => Promise<T>): Promise<Reply<T>> {
    const home = this.#options.homes.find(({ key }) => key === profile)
    return this.#answer(async () => {
      if (home === undefined) throw invalid('there is no such profile')
      return ask(await this.#starting, home)
    }, home)
  }

  async #answer<T>(work: () => Promise<T>, home?: Home): Promise<Reply<T>> {
    try {
      return { ok: true, value: await work() }
    } catch (error) {
      this.#log(error)
      return failed(failureOf(error, home))
    }
  }

  #started(sidecar: Sidecar): void {
    const { homes } = this.#options
    sidecar.on('exit', () => this.#enter('restarting', new SidecarError('sidecar_exited', 'the sidecar ended')))
    sidecar.on('retry', (error) => this.#enter('restarting', error))
    sidecar.on('failed', (error) => this.#enter('failed', error))
    sidecar.on('restart', () => this.#enter('running'))
    sidecar.on('cleanup.changed', ({ profile_home, pending }) => {
      const home = profileAt(homes, profile_home)
      if (home) this.#tell({ kind: 'cleanup', profile: home.key, pending: pending.map((one) => ({ ...one, cause: withoutHome(one.cause, home) })) })
    })
    sidecar.on('receipts.committed', ({ profile_home, sequence }) => {
      const home = profileAt(homes, profile_home)
      if (home) this.#tell({ kind: 'receipt', profile: home.key, sequence })
    })
    this.#enter('running')
  }

  #enter(state: SidecarState['state'], error?: unknown): void {
    if (error !== undefined) this.#log(error)
    this.#state = { kind: 'sidecar', state, ...(error !== undefined && { sentence: failureOf(error).sentence }) }
    this.#tell(this.#state)
  }

  #tell(event: HostEvent): void {
    for (const listener of [...this.#listeners]) listener(event)
  }

  #log(error: unknown): void {
    const bug = () => `bug: ${error instanceof Error ? error.stack : String(error)}`
    this.#options.log?.(error instanceof SidecarError ? `${error.reason}: ${error.message}` : bug())
  }
}

/** How a delete is done. An erased conversation leaves the search indexes too. */
const paramsOf = (mode: Mode) => ({ whole_conversation: true, ...(mode === 'keep' ? { keep_days: keepDays } : { purge_index: true }) })

async function cleanupState(sidecar: Sidecar, home: Home) {
  const { profile_home: _, why, ...status } = await sidecar.cleanup.status({ profile_home: home.home }, { timeout })
  const state = { ...status, ...(why !== undefined && { why: withoutHome(why, home) }) }
  if (!state.cleanup) return state
  const pending = state.cleanup.pending.map((one) => ({ ...one, cause: withoutHome(one.cause, home) }))
  return { ...state, cleanup: { ...state.cleanup, pending } }
}

/** A receipt without the folder of the profile and the file in it, which the page does not need. */
function withoutFolder(deletion: Record<string, unknown>): Record<string, unknown> {
  const { profile_home: _, store_id: __, ...rest } = deletion
  return rest
}
