import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { countsOf } from '../family/family.ts'
import { saveCopy } from '../state/copy.ts'
import { chooseMode, closeDelete, confirmDelete, type DeleteOne, deleteOne, readPlan, stopDelete } from '../state/delete-one.ts'
import { words } from '../strings.ts'
import type { Preview } from '../types.ts'
import { EraseReport, ModeChoice, Running } from './DeleteParts.tsx'
import { Action, Dialog } from './Dialog.tsx'
import { Icon } from './Icon.tsx'
import { InUse, Problem } from './Parts.tsx'

/** Deletes one conversation: says in words what will happen, and afterwards what did. */
export function DeleteDialog() {
  const asked = deleteOne.value
  if (!asked) return null
  if (asked.step === 'erased') return <Erased asked={asked} />
  if (asked.step === 'asking') return <Asking asked={asked} />
  return <Running title={words.confirm.running(asked.title)} stopping={asked.step === 'stopping'} purging={asked.purging} onStop={() => void stopDelete()} />
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
      aside={<CopyFirst root={asked.root} title={asked.title} />}
      actions={
        <>
          <Action first={changed !== undefined} onClick={closeDelete}>
            {words.cancel}
          </Action>
          <Action kind="danger-strong" first={changed === undefined} disabled={!ready || !seen.value} onClick={() => ready && void confirmDelete()}>
            {asked.mode === 'erase' ? words.confirm.eraseNow : changed ? words.confirm.agreeAnew : words.confirm.delete}
          </Action>
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

/** After "erase now" the answer is shown until the user has read it: it says what of the conversation can still be read, and where. */
function Erased({ asked }: { asked: DeleteOne }) {
  return (
    <Dialog
      title={words.outcome.erasedTitle(asked.title)}
      onClose={closeDelete}
      actions={
        <Action kind="strong" first onClick={closeDelete}>
          {words.done}
        </Action>
      }
    >
      {asked.result?.failure && <Problem failure={asked.result.failure} />}
      {asked.result?.erase && <EraseReport erase={asked.result.erase} />}
    </Dialog>
  )
}
