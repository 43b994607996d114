import type { ComponentChildren } from 'preact'
import type { Failure } from '../../bridge.ts'
import { now } from '../state/app.ts'
import { sentenceOf } from '../state/messages.ts'
import { words } from '../strings.ts'
import type { Guard } from '../types.ts'
import { Icon, type IconName } from './Icon.tsx'

// Small parts that several views share.

export function Empty({
  icon,
  title,
  hint,
  children,
}: {
  icon: IconName
  title: string
  hint?: string | undefined
  children?: ComponentChildren
}) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <p class="empty-title">{title}</p>
      {hint && <p class="quiet">{hint}</p>}
      {children}
    </div>
  )
}

/** Grey shapes of what is about to come. */
export function Skeleton({ rows }: { rows: number }) {
  return (
    <div class="skeleton" role="status" aria-label={words.loading}>
      {Array.from({ length: rows }, (_, i) => (
        <div key={i} class="skeleton-row" aria-hidden="true" />
      ))}
    </div>
  )
}

export function Problem({ failure, onAgain }: { failure: Failure; onAgain?: () => void }) {
  return (
    <div class="notice notice-problem" role="alert">
      <Icon name="warning" />
      <div class="notice-text">
        <p>{sentenceOf(failure)}</p>
        {failure.detail && (
          <p class="quiet" dir="auto">
            {words.detail(failure.detail)}
          </p>
        )}
      </div>
      {onAgain && (
        <button type="button" class="button" onClick={onAgain}>
          {words.again}
        </button>
      )}
    </div>
  )
}

/** Who is at work in a conversation, and until when. */
export function InUse({ guards, onAgain }: { guards: readonly Guard[]; onAgain?: () => void }) {
  const first = guards[0]
  if (!first) return null
  return (
    <div class="notice notice-wait" role="status">
      <Icon name="clock" />
      <div class="notice-text">
        {guards.map((guard) => (
          <p key={`${guard.session_id} ${guard.kind}`}>
            <strong>{words.guard.inUse(guard, now.value)}</strong> <span>{words.guard.kind(guard.kind)}</span>
          </p>
        ))}
        <p class="quiet">{words.guard.wait}</p>
      </div>
      {onAgain && (
        <button type="button" class="button" onClick={onAgain}>
          {words.refresh}
        </button>
      )}
    </div>
  )
}

/** The head of the middle pane: what it lists, how much of it, and what can be done with all. */
export function PaneHead({ title, count, children }: { title: string; count: string; children?: ComponentChildren }) {
  return (
    <header class="pane-head">
      <div>
        <h1>{title}</h1>
        <p class="quiet">{count}</p>
      </div>
      <div class="pane-tools">{children}</div>
    </header>
  )
}

/** What stands below that: shapes until it is read, what went wrong, and the list, or why there is none. */
export function ListBody({ waiting, failure, onAgain, empty, children }: {
  waiting: boolean
  failure: Failure | null
  onAgain: () => void
  empty: ComponentChildren
  children: ComponentChildren
}) {
  return (
    <>
      {failure && <Problem failure={failure} onAgain={onAgain} />}
      {waiting ? <Skeleton rows={8} /> : children || (!failure && empty)}
    </>
  )
}

/** The head of the last pane: what is looked at, and what can be done with it. */
export function DetailHead({ id, title, actions, children }: { id: string; title: string; actions: ComponentChildren; children: ComponentChildren }) {
  return (
    <header class="detail-head">
      <div class="detail-titles">
        <h2 id={id} dir="auto" title={title}>
          {title}
        </h2>
        {children}
      </div>
      <div class="detail-actions">{actions}</div>
    </header>
  )
}

/** A time in a list: short to the eye, whole where the pointer rests. */
export function When({ seconds }: { seconds: number | undefined }) {
  if (seconds === undefined) return <span class="row-when" />
  return (
    <time class="row-when" dateTime={new Date(seconds * 1000).toISOString()} title={words.format.dateTime(seconds)}>
      {words.format.brief(seconds, now.value)}
    </time>
  )
}

export function Facts({ rows }: { rows: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd dir="auto">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
