import type { Mode } from '../../bridge.ts'
import { words } from '../strings.ts'
import type { Erase } from '../types.ts'
import { Action, Dialog } from './Dialog.tsx'
import { Icon } from './Icon.tsx'

// What the delete of one and the delete of many have in common.

/** The way back, or none. */
export function ModeChoice({ mode, onChoose }: { mode: Mode; onChoose: (mode: Mode) => void }) {
  const choice = (value: Mode, name: string, hint: string) => (
    <label class="choice">
      <input type="radio" name="mode" checked={mode === value} aria-describedby={`mode-${value}`} onChange={() => onChoose(value)} />
      <span>
        <span class="choice-name">{name}</span>
        <span id={`mode-${value}`} class="quiet">
          {hint}
        </span>
      </span>
    </label>
  )
  return (
    <fieldset class="choices">
      <legend class="hidden">{words.confirm.mode}</legend>
      {choice('keep', words.confirm.keep, words.confirm.keepHint)}
      {choice('erase', words.confirm.erase, words.confirm.eraseHint)}
    </fieldset>
  )
}

type RunningProps = {
  readonly title: string
  readonly stopping: boolean
  readonly purging: boolean
  readonly onStop: () => void
  /** How far it is, where anybody knows. */
  readonly progress?: { readonly done: number; readonly total: number }
}

/** A delete on its way, until its answer is there: a stop is a wish, and answered like the rest. */
export function Running({ title, stopping, purging, onStop, progress }: RunningProps) {
  const text = progress && words.confirm.progress(progress.done, progress.total)
  return (
    <Dialog
      title={title}
      onClose={onStop}
      actions={
        <Action first disabled={stopping} onClick={onStop}>
          {words.stop}
        </Action>
      }
    >
      <p class="progress-line">
        <span role="status">{stopping ? words.confirm.stopping : purging ? words.confirm.purging : words.confirm.deleting}</span>
        {text && <span class="quiet">{text}</span>}
      </p>
      <progress aria-label={words.confirm.progressLabel} aria-valuetext={text} max={progress?.total} value={progress?.done} />
    </Dialog>
  )
}

/** What of a deleted conversation can still be read in the store's files. */
export function EraseReport({ erase }: { erase: Erase }) {
  const line = (sentence: string, good: boolean) => (
    <li class={good ? 'good' : 'open'}>
      <Icon name={good ? 'check' : 'warning'} />
      <span>{sentence}</span>
    </li>
  )
  return (
    <>
      <ul class="erase-report">
        {line(words.outcome.erase.pages(erase), erase.pages === 'this_delete')}
        {line(words.outcome.erase.indexes(erase), erase.indexes === 'purged')}
        {line(words.outcome.erase.wal(erase), erase.wal === 'truncated')}
      </ul>
      <p class="quiet">{words.outcome.erase.beyond}</p>
    </>
  )
}
