import { keepDays } from '../keep-days.ts'
import { formats } from './format.ts'
import type { Counted, Erase, Guard } from './types.ts'

// Every word that the user sees. To translate: put another language in the place of this object, with its own `language` and
// `direction`; plurals, dates, sizes and lists of words follow from the language. Whatever differs by number goes through `plural`.

const language = 'en'
const f = formats(language)
const { plural } = f
const days = (n: number) => plural(n, { one: '# day', other: '# days' })

/**
 * A title of another direction, or with marks that turn the text after it around, keeps to itself (Unicode's isolates). Others stay
 * as they are.
 */
const apart = (title: string) => (/[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/.test(title) ? `\u2068${title}\u2069` : title)

/** A title in a sentence: what is said of it must not be pushed out of sight by it. */
const short = (title: string) => {
  const letters = [...new Intl.Segmenter(language).segment(title.slice(0, 400))].map((one) => one.segment)
  return letters.length <= 80 && title.length <= 400 ? title : `${letters.slice(0, 79).join('').trimEnd()}…`
}

/** A word of the protocol that this version does not know is shown as it is: better than to hide it. */
const known = (words: Record<string, string>, word: string) => words[word] ?? word

export const words = {
  language,
  direction: 'ltr' as 'ltr' | 'rtl',
  app: 'Session keeper',

  format: f,
  close: 'Close',
  cancel: 'Cancel',
  stop: 'Stop',
  done: 'Done',
  again: 'Try again',
  refresh: 'Refresh',
  loading: 'Loading…',
  untitled: 'Untitled conversation',
  detail: (line: string) => `Details: ${line}`,
  noAnswer: 'The connection between this window and its program was lost. Start the app again.',
  noProfile: 'No profile found',
  noProfileHint: 'Start the app with the folder of an Agent’s profile.',
  /** Sentences for reasons, by reason, for a translation; the host's own sentence is shown for those that are not here. */
  reasons: {} as Partial<Record<string, string>>,

  skip: { list: 'Skip to the list', detail: 'Skip to the details' },

  sidebar: {
    label: 'Views',
    profile: 'Profile',
    conversations: 'Conversations',
    trash: 'Trash',
    receipts: 'Receipts',
    cleanup: 'Clean-up',
    badge: { trash: (n: number) => plural(n, { one: '# entry', other: '# entries' }), cleanup: (n: number) => plural(n, { one: '# left to do', other: '# left to do' }) },
    theme: 'Appearance',
    themes: { auto: 'As the system', light: 'Light', dark: 'Dark' },
    shortcuts: 'Keyboard shortcuts',
  },

  list: {
    label: 'Conversations',
    search: 'Search conversations',
    searchHint: 'Search what was said',
    clearSearch: 'Clear the search',
    count: (n: number, more: boolean) => plural(n, more ? { one: '# conversation, and more', other: '# conversations, and more' } : { one: '# conversation', other: '# conversations' }),
    found: (n: number, more: boolean) => plural(n, more ? { one: '# found so far', other: '# found so far' } : { one: '# found', other: '# found' }),
    parts: (n: number) => plural(n, { one: '# part', other: '# parts' }),
    messages: (n: number) => plural(n, { one: '# message', other: '# messages' }),
    inUse: 'In use',
    noActivity: 'No activity known',
    empty: 'No conversations yet',
    emptyHint: 'What you talk about with the Agent appears here.',
    nothingFound: (query: string) => `Nothing found for “${apart(query)}”`,
    nothingFoundHint: 'All words have to stand in one message. The last one may be the beginning of a word.',
    selected: (n: number) => plural(n, { one: '# selected', other: '# selected' }),
    selectAll: 'Select all that are loaded',
    clearSelection: 'Clear the selection',
    keys: 'Arrow keys to move, Space to select, Shift and arrow keys for a range, Delete to delete.',
  },

  conversation: {
    label: 'The conversation',
    none: 'No conversation chosen',
    noneHint: 'Choose one to see what belongs to it.',
    lastActivity: (when: string) => `Last activity ${when}`,
    from: (source: string) => `from ${source}`,
    id: 'Id',
    delete: 'Delete…',
    saveCopy: 'Save a copy…',
    saved: (name: string, size: string) => `A copy was saved as ${apart(name)} (${size}).`,
    many: (n: number) => plural(n, { one: '# conversation selected', other: '# conversations selected' }),
    manyFacts: (messages: number, size: string) => `${plural(messages, { one: '# message', other: '# messages' })}, ${size} of text`,
    manyInUse: (n: number) => plural(n, { one: '# of them is in use and would be left alone.', other: '# of them are in use and would be left alone.' }),
    deleteMany: 'Delete the selected…',
    gone: 'This conversation is not there any more.',
  },

  guard: {
    /** What keeps a conversation from being deleted, as a heading. */
    inUse: (g: Guard, now: number) =>
      g.expires_at === undefined ? `In use by ${apart(g.holder)}` : `In use by ${apart(g.holder)}, until ${f.until(g.expires_at, now)}${g.expires_at < now ? ' (that is over)' : ''}`,
    kind: (kind: string) =>
      known(
        {
          turn_lease: 'A reply is being written.',
          compression_lock: 'The conversation is being shortened.',
          admission: 'A request still waits for its answer.',
          worker: 'A helper is still at work.',
        },
        kind,
      ),
    wait: 'It cannot be deleted as long as that lasts.',
  },

  family: {
    heading: 'What a delete takes',
    label: (title: string) => `What goes and what stays of ${apart(title)}`,
    loading: 'Looking at what belongs to this conversation…',
    asPicture: 'Picture',
    asList: 'List',
    shownAs: 'Show as',
    zoom: 'Zoom',
    zoomIn: 'Zoom in',
    zoomOut: 'Zoom out',
    zoomFit: 'Show all',
    zoomed: (percent: number) => `${f.number(percent)} %`,
    keys: 'Arrow keys to go from one to the next, Shift and arrow keys to move the picture, plus, minus and 0 to zoom.',
    goes: (n: number) => plural(n, { one: '# session goes', other: '# sessions go' }),
    stays: (n: number) => plural(n, { one: '# session stays', other: '# sessions stay' }),
    going: (parts: number, delegates: number) =>
      `Goes: ${f.list([
        ...(parts > 0 ? [plural(parts, { one: '# part of the conversation', other: '# parts of the conversation' })] : []),
        ...(delegates > 0 ? [plural(delegates, { one: '# helper', other: '# helpers' })] : []),
      ])}`,
    kept: (n: number) => plural(n, { one: 'Stays: # session', other: 'Stays: # sessions' }),
    /** `line` is what stands under the name in the picture; what is seen comes first, and in that order. */
    node: (name: string, line: string, fate: string, why: string) => `${apart(name)}, ${line}. ${fate}${why === line ? '' : `: ${why}`}`,
    fate: { goes: 'Goes', stays: 'Stays' },
    why: (why: string) =>
      known(
        {
          requested: 'the conversation that was chosen',
          compression: 'continues the conversation',
          lineage: 'belongs to the conversation',
          delegate: 'worked for the conversation',
          branch: 'branched off; a conversation of its own',
          continuation: 'continues a part that is not deleted here',
          delegate_of_compressed: 'worked for a part that was shortened before',
          after_branch: 'began when its parent had branched off',
          below_kept: 'belongs to one that stays',
          not_a_delegate: 'nobody gave it work; a conversation of its own',
          reset: 'began anew after a reset',
        },
        why,
      ),
    inUse: 'In use',
  },

  facts: {
    heading: 'And besides',
    files: (n: number, size: string) => `${plural(n, { one: '# file goes', other: '# files go' })} with it (${size})`,
    media: (n: number) => plural(n, { one: '# file that it named goes, unless somebody still needs it', other: '# files that it named go, unless somebody still needs them' }),
    retained: (c: Counted) => `Kept on purpose: ${known({ final_responses: 'final answers', worker_results: 'results of helpers', mutation_receipts: 'records of changes' }, c.kind)}`,
    leftBehind: (c: Counted) => `Left behind: ${known({ system_prompts: 'system prompts', gateway_routing: 'routes', 'gateway.local_legacy': 'records of older conversations' }, c.kind)}`,
    /** The sidecar says why in English; a translation puts its own sentence here, by kind. */
    why: (c: Counted) => c.why,
    number: (n: number) => f.number(n),
    stale: (n: number) => plural(n, { one: 'The Agent has to rebuild # search index before it finds the rest again', other: 'The Agent has to rebuild # search indexes before it finds the rest again' }),
    trash: (size: string) => `Kept for ${days(keepDays)} it takes about ${size} in the trash`,
    nothing: 'Nothing else is touched.',
  },

  confirm: {
    title: (title: string) => `Delete “${apart(title)}”?`,
    titleMany: (n: number) => plural(n, { one: 'Delete # conversation?', other: 'Delete # conversations?' }),
    goes: (parts: number, delegates: number, messages: number) => {
      const what = [plural(parts, { one: '# part of the conversation', other: '# parts of the conversation' })]
      if (delegates > 0) what.push(plural(delegates, { one: '# helper that worked for it', other: '# helpers that worked for it' }))
      return `${f.list(what)} will go, with ${plural(messages, { one: '# message', other: '# messages' })}.`
    },
    stays: (n: number) => plural(n, { one: '# session that hangs on it stays, as a conversation of its own.', other: '# sessions that hang on it stay, as conversations of their own.' }),
    files: (n: number) => plural(n, { one: '# file of it will be removed.', other: '# files of it will be removed.' }),
    many: (conversations: number, sessions: number, messages: number) =>
      `${plural(conversations, { one: '# conversation', other: '# conversations' })} will go: ${plural(sessions, { one: '# session', other: '# sessions' })} with ${plural(messages, { one: '# message', other: '# messages' })}.`,
    refusedMany: (n: number) => plural(n, { one: '# cannot be deleted now and is left alone:', other: '# cannot be deleted now and are left alone:' }),
    looking: (done: number, total: number) => `Looking at what goes: ${f.number(done)} of ${f.number(total)}`,
    nothingToDo: 'None of them can be deleted now.',
    mode: 'What happens to it',
    keep: `Keep it in the trash for ${days(keepDays)}`,
    keepHint: 'You can take it back until then. Its text stays on this computer, compressed and not encrypted.',
    erase: 'Erase it now',
    eraseHint: 'It cannot be taken back. Its words are also removed from the search index, which may take a while.',
    saveFirst: 'Save a copy first…',
    delete: 'Delete',
    eraseNow: 'Erase now',
    changed: 'Something was added to this conversation meanwhile. Nothing was deleted. This is what would go now:',
    added: (names: string[]) => `New: ${f.list(names.map(apart))}`,
    left: (n: number) => plural(n, { one: '# session is not there any more.', other: '# sessions are not there any more.' }),
    agreeAnew: 'Delete all the same',
    running: (title: string) => `Deleting “${apart(short(title))}”`,
    runningMany: (n: number) => plural(n, { one: 'Deleting # conversation', other: 'Deleting # conversations' }),
    filesMany: (n: number) => plural(n, { one: '# file of them will be removed.', other: '# files of them will be removed.' }),
    staysMany: (n: number) => plural(n, { one: '# session that hangs on them stays, as a conversation of its own.', other: '# sessions that hang on them stay, as conversations of their own.' }),
    deleting: 'Deleting…',
    purging: 'Overwriting what the search index still holds…',
    stopping: 'Stopping…',
    progress: (done: number, total: number) => `${f.number(done)} of ${f.number(total)}`,
    progressLabel: 'Progress of the delete',
    looksLabel: 'Looking at what goes',
  },

  outcome: {
    deleted: (title: string) => `“${apart(short(title))}” was deleted.`,
    wasGone: (title: string) => `“${apart(short(title))}” was not there any more.`,
    until: (date: string) => `You can take it back until ${date}.`,
    notKept: 'It was not kept and cannot be taken back.',
    undo: 'Undo',
    nothingToUndo: 'There is nothing to take back.',
    lastErased: 'What was deleted last cannot be taken back. What was kept before it is in the trash.',
    erasedTitle: (title: string) => `“${apart(short(title))}” is deleted`,
    manyTitle: (n: number) => plural(n, { one: '# conversation is deleted', other: '# conversations are deleted' }),
    manyNone: 'Nothing was deleted',
    manyDeleted: (n: number) => plural(n, { one: '# conversation was deleted.', other: '# conversations were deleted.' }),
    manyCancelled: (n: number) => plural(n, { one: '# was not done any more, because you stopped it.', other: '# were not done any more, because you stopped it.' }),
    manyRefused: (n: number) => plural(n, { one: '# was left alone:', other: '# were left alone:' }),
    sentence: (title: string, why: string) => `“${apart(short(title))}”: ${why}`,
    leftovers: (n: number) => plural(n, { one: '# file could not be removed yet. It is tried again by itself; see Clean-up.', other: '# files could not be removed yet. It is tried again by itself; see Clean-up.' }),
    erase: {
      pages: (e: Erase) =>
        e.pages === 'this_delete'
          ? 'The text of this conversation is overwritten in the history’s file.'
          : e.pages === 'kept_until' && e.kept_until !== undefined
            ? `The text lies in the trash until ${f.date(e.kept_until)}.`
            : e.pages,
      indexes: (e: Erase) =>
        known(
          {
            purged: 'No search index holds any deleted word any more.',
            pending: 'A search index may still hold words of it. The next delete with “Erase now” goes on from here.',
            not_asked: 'The search index may hold single words of it for a while.',
          },
          e.indexes,
        ),
      wal: (e: Erase) =>
        known(
          {
            truncated: 'The history’s log is empty.',
            busy: 'The history’s log may still hold text of it, because another program is reading. It goes when that one ends.',
            not_asked: 'The history’s log may hold text of it until it is written anew.',
          },
          e.wal,
        ),
      beyond: 'Backups, exported copies, and the blocks of a disk are beyond this app.',
    },
  },

  trash: {
    label: 'Trash',
    count: (n: number) => plural(n, { one: '# entry', other: '# entries' }),
    empty: 'The trash is empty',
    emptyHint: `A conversation that you delete is kept here for ${days(keepDays)}.`,
    emptyAll: 'Empty the trash…',
    entry: 'The deleted conversation',
    none: 'No entry chosen',
    noneHint: 'Choose one to restore it or to erase it.',
    deletedAt: 'Deleted',
    keepUntil: 'Goes for good',
    keptFor: (days: number) => plural(days, { one: '# day left', other: '# days left' }),
    size: 'Size in the trash',
    messages: 'Messages',
    sessions: 'Sessions',
    restore: 'Restore',
    purge: 'Erase…',
    restored: (title: string) => `“${apart(short(title))}” is back, under a new id.`,
    restoredMany: (n: number) => plural(n, { one: '# conversation is back, under a new id.', other: '# conversations are back, under new ids.' }),
    dropped: (columns: string[]) => `The history has no place any more for ${f.list(columns)}.`,
    changed: (columns: string[]) => `Could not come back as it was: ${f.list(columns)}.`,
    stale: 'The Agent has to rebuild its search index before it is found by its words.',
    entryLeft: 'Its entry could not be removed from the trash yet.',
    restoring: (done: number, total: number) => `Bringing back: ${f.number(done)} of ${f.number(total)}`,
    notRestored: (n: number) => plural(n, { one: '# could not be brought back.', other: '# could not be brought back.' }),
    purgeTitle: (title: string) => `Erase “${apart(title)}” for good?`,
    purgeBody: 'It cannot be taken back any more.',
    purgeAllTitle: (n: number) => plural(n, { one: 'Erase # entry for good?', other: 'Erase all # entries for good?' }),
    purgeConfirm: 'Erase for good',
    purged: (n: number) => plural(n, { one: '# entry was erased.', other: '# entries were erased.' }),
    unreadable: (n: number) => plural(n, { one: '# entry cannot be read', other: '# entries cannot be read' }),
    unreadableHint: 'It cannot be brought back. It stays until you remove it.',
    remove: (name: string) => `Remove ${name}`,
  },

  receipts: {
    label: 'Receipts',
    intro: 'A receipt says that a conversation was deleted and where it came from, never what was said. Other programs read them to tidy up what is theirs.',
    empty: 'No receipts',
    emptyHint: 'Each delete leaves one here until it is forgotten.',
    count: (n: number, more: boolean) => plural(n, more ? { one: '# receipt, and more', other: '# receipts, and more' } : { one: '# receipt', other: '# receipts' }),
    receipt: 'The receipt',
    none: 'No receipt chosen',
    noneHint: 'Choose one to see what it says.',
    name: (sequence: number) => `Receipt ${f.number(sequence)}`,
    sessions: (n: number) => plural(n, { one: '# session', other: '# sessions' }),
    unreadable: 'It cannot be read.',
    operation: 'Operation',
    reason: 'Reason',
    surface: 'Asked for over',
    identities: 'Sessions that went',
    columns: { id: 'Id', source: 'Source', chat_id: 'Chat', thread_id: 'Thread', parent_session_id: 'Parent' },
    reasonWords: (word: string) => known({ explicit_user: 'A user asked for it' }, word),
    surfaceWords: (word: string) => known({ session_rpc: 'An app like this one' }, word),
    forget: 'Forget up to here…',
    forgetTitle: (sequence: number) => `Forget all receipts up to ${f.number(sequence)}?`,
    forgetBody: 'A program that has not read them yet will never learn of these deletes. Forget only what every program has read.',
    forgetConfirm: 'Forget them',
    forgotten: (n: number) => plural(n, { one: '# receipt was forgotten.', other: '# receipts were forgotten.' }),
  },

  cleanup: {
    label: 'Clean-up',
    intro: 'What a delete could not remove at once, such as a file that another program holds, is tried again by itself.',
    allDone: 'Nothing is left to clean up',
    allDoneHint: 'Everything that deletes should remove is gone.',
    neverRan: 'Nobody has looked yet',
    lastRun: (when: string) => `Last looked ${when}.`,
    watched: (how: string) => known({ events: 'The profile is watched; changes are seen at once.', polling: 'The profile is looked at every two seconds.' }, how),
    notWatched: 'The profile is not watched; what is left goes with the next delete.',
    now: 'Clean up now',
    running: 'Cleaning up…',
    pending: (n: number) => plural(n, { one: '# thing is left', other: '# things are left' }),
    unknownId: 'From an older delete',
    cause: (cause: string) =>
      known(
        {
          session_live: 'A session of this id is there again, so its files are its own.',
          artifact_stuck: 'A file of it could not be removed: another program holds it, or it is a folder.',
          unsafe_id: 'Its id cannot be a file’s name, so no file is touched.',
          media_failed: 'A picture or another file that it named could not be removed.',
        },
        cause,
      ),
    unreadable: (n: number) => plural(n, { one: '# list of files cannot be read', other: '# lists of files cannot be read' }),
    cleaned: 'Nothing is left to clean up any more.',
    stillLeft: (n: number) => plural(n, { one: '# thing is still left.', other: '# things are still left.' }),
  },

  sidecar: {
    restarting: 'The program that deletes conversations has stopped. It is being started again.',
    recovered: 'The program that deletes conversations runs again.',
    failed: 'The program that deletes conversations cannot run.',
  },

  copy: { failed: 'The copy could not be saved.', /** Of a file, where a title has no letter to name it by. */ name: 'conversation' },

  shortcuts: {
    title: 'Keyboard shortcuts',
    rows: (command: string): [string, string][] => [
      [`${command} F`, 'Search'],
      ['↑ ↓', 'Move in the list'],
      ['Space', 'Select or unselect'],
      ['Shift ↑ ↓', 'Select a range'],
      [`${command} A`, 'Select all that are loaded'],
      ['Enter', 'Go to the details'],
      ['Delete', 'Delete'],
      ['Escape', 'Clear the selection or the search'],
      [`${command} Z`, 'Undo the last delete'],
      [`${command} 1 … 4`, 'Change the view'],
      ['F6', 'Go to the next pane'],
      ['+ − 0', 'Zoom the picture'],
    ],
  },
}
