import { cleaning, cleanNow, cleanup, cleanupFailure, leftToClean, readCleanup } from '../state/cleanup.ts'
import { words } from '../strings.ts'
import { Icon } from './Icon.tsx'
import { Empty, PaneHead, Problem, Skeleton } from './Parts.tsx'

/** What deletes could not remove yet, each with its cause in words. */
export function CleanupView() {
  const state = cleanup.value
  const left = state?.cleanup
  return (
    <div class="detail-page">
      <PaneHead
        title={words.cleanup.label}
        count={state?.last_run === undefined ? words.cleanup.neverRan : words.cleanup.lastRun(words.format.dateTime(state.last_run))}
      >
        <button type="button" class="button" aria-disabled={cleaning.value} onClick={() => void cleanNow()}>
          <Icon name="broom" />
          {cleaning.value ? words.cleanup.running : words.cleanup.now}
        </button>
      </PaneHead>
      <p class="quiet">
        {words.cleanup.intro} {state && (state.watched ? words.cleanup.watched(state.how ?? '') : words.cleanup.notWatched)}
      </p>
      {state?.why && (
        <p class="quiet" dir="auto">
          {state.why}
        </p>
      )}
      {cleanupFailure.value && <Problem failure={cleanupFailure.value} onAgain={() => void readCleanup()} />}
      {!state && !cleanupFailure.value && <Skeleton rows={3} />}
      {state && leftToClean.value === 0 && <Empty icon="check" title={words.cleanup.allDone} hint={words.cleanup.allDoneHint} />}
      {left && left.pending.length > 0 && (
        <section aria-labelledby="pending">
          <h2 id="pending">{words.cleanup.pending(left.pending.length)}</h2>
          <ul class="pending">
            {left.pending.map((one, i) => (
              <li key={i}>
                <Icon name="warning" />
                <div>
                  <p>{words.cleanup.cause(one.cause)}</p>
                  <p class="quiet" dir="auto">
                    {one.session_id === undefined ? words.cleanup.unknownId : <code>{one.session_id}</code>}
                  </p>
                </div>
              </li>
            ))}
          </ul>
        </section>
      )}
      {left && left.unreadable.length > 0 && (
        <section aria-labelledby="unreadable-lists">
          <h2 id="unreadable-lists">{words.cleanup.unreadable(left.unreadable.length)}</h2>
          <ul class="files">
            {left.unreadable.map((name) => (
              <li key={name}>
                <code dir="auto">{name}</code>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}
