import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Mode } from '../../bridge.ts'
import { countsOf } from '../family/family.ts'
import { chooseMode, closeDelete, confirmDelete, type DeleteOne, deleteOne, readPlan, saveCopy, stopDelete } from '../state/delete-one.ts'
import { words } from '../strings.ts'
import type { Erase, Preview } from '../types.ts'
import { Dialog } from './Dialog.tsx'
import { Icon } from './Icon.tsx'
import { InUse, Problem } from './Parts.tsx'

/** Deletes one conversation: says in words what will happen, and afterwards what did. */
export function DeleteDialog() {
  const asked = deleteOne.value
  if (!asked) return null
  if (asked.step === 'erased') return <Erased asked={asked} />
  return asked.step === 'asking' ? <Asking asked={asked} /> : <Running asked={asked} />
}

function Asking({ asked }: { asked: DeleteOne }) {
  const { preview, failure, changed } = asked
  // The second half of a double click, or a key that is held down, is no answer to what nobody has seen yet.
  const seen = useSignal(changed === undefined)
  useEffect(() => {
    if (seen.value) return
    const timer = setTimeout(() => (seen.value = true), 700)
    return () => clearTimeout(timer)
  }, [])
  const early = (event: Event) => {
    if (seen.value) return
    event.preventDefault()
    event.stopPropagation()
  }
  const guarded = (preview?.guards.length ?? 0) > 0
  const ready = preview !== undefined && (failure === undefined || failure.retryable || changed !== undefined)
  return (
    <Dialog
      title={words.confirm.title(asked.title)}
      tone="danger"
      onClose={closeDelete}
      onClickCapture={early}
      footer={
        <>
          <CopyFirst root={asked.root} title={asked.title} />
          <span class="spring" />
          <button type="button" class="button" autofocus={changed !== undefined} onClick={closeDelete}>
            {words.cancel}
          </button>
          <button
            type="button"
            class="button button-danger-strong"
            autofocus={changed === undefined}
            aria-disabled={!ready || !seen.value}
            onClick={() => ready && void confirmDelete()}
          >
            {asked.mode === 'erase' ? words.confirm.eraseNow : changed ? words.confirm.agreeAnew : words.confirm.delete}
          </button>
        </>
      }
    >
      {changed && (
        <div class="notice notice-wait" role="alert">
          <Icon name="warning" />
          <div class="notice-text">
            <p>{words.confirm.changed}</p>
            {changed.added.length > 0 && <p>{words.confirm.added(changed.added)}</p>}
            {changed.left > 0 && <p>{words.confirm.left(changed.left)}</p>}
          </div>
        </div>
      )}
      {guarded && preview ? (
        <InUse guards={preview.guards} onAgain={() => void readPlan()} />
      ) : (
        failure && <Problem failure={failure} onAgain={() => void readPlan()} />
      )}
      {preview ? <Sentences preview={preview} /> : !failure && <p class="quiet">{words.family.loading}</p>}
      <ModeChoice mode={asked.mode} onChoose={chooseMode} />
    </Dialog>
  )
}

function Sentences({ preview }: { preview: Preview }) {
  const counts = countsOf(preview)
  return (
    <ul class="sentences">
      <li>{words.confirm.goes(counts.parts, counts.delegates, counts.messages)}</li>
      {counts.files > 0 && <li>{words.confirm.files(counts.files)}</li>}
      {counts.kept > 0 && <li>{words.confirm.stays(counts.kept)}</li>}
      {preview.retained.map((one) => (
        <li key={one.kind}>
          {words.facts.retained(one)} ({words.facts.number(one.count)})
        </li>
      ))}
    </ul>
  )
}

/** The way back, or none. Both deletes ask for it. */
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

function CopyFirst({ root, title }: { root: string; title: string }) {
  const told = useSignal<{ tone: string; text: string } | null>(null)
  const saving = useSignal(false)
  const save = async () => {
    if (saving.value) return
    saving.value = true
    told.value = (await saveCopy(root, title)) ?? told.value
    saving.value = false
  }
  return (
    <>
      <button type="button" class="button" aria-disabled={saving.value} onClick={() => void save()}>
        <Icon name="save" />
        {words.confirm.saveFirst}
      </button>
      <p class={`saved saved-${told.value?.tone ?? 'none'}`} role="status">
        {told.value?.text}
      </p>
    </>
  )
}

function Running({ asked }: { asked: DeleteOne }) {
  return (
    <Dialog
      title={words.confirm.running(asked.title)}
      onClose={() => void stopDelete()}
      footer={
        <>
          <span class="spring" />
          <button type="button" class="button" autofocus aria-disabled={asked.step === 'stopping'} onClick={() => void stopDelete()}>
            {words.stop}
          </button>
        </>
      }
    >
      <p role="status">
        {asked.step === 'stopping' ? words.confirm.stopping : asked.purging ? words.confirm.purging : words.confirm.deleting}
      </p>
      <progress aria-label={words.confirm.progressLabel} />
    </Dialog>
  )
}

/** After "erase now" the answer is shown until the user has read it: it says what of the conversation can still be read, and where. */
function Erased({ asked }: { asked: DeleteOne }) {
  return (
    <Dialog
      title={words.outcome.erasedTitle(asked.title)}
      onClose={closeDelete}
      footer={
        <>
          <span class="spring" />
          <button type="button" class="button button-strong" autofocus onClick={closeDelete}>
            {words.done}
          </button>
        </>
      }
    >
      {asked.result?.failure && <Problem failure={asked.result.failure} />}
      {asked.result?.erase && <EraseReport erase={asked.result.erase} />}
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
