import { countsOf } from '../family/family.ts'
import {
  chooseModeMany,
  closeDeleteMany,
  confirmDeleteMany,
  type DeleteMany,
  deleteMany,
  type Refused,
  stopDeleteMany,
} from '../state/delete-many.ts'
import { words } from '../strings.ts'
import { EraseReport, ModeChoice, Running } from './DeleteParts.tsx'
import { Action, Dialog } from './Dialog.tsx'
import { Problem } from './Parts.tsx'

/** Deletes many conversations: looks, asks, deletes with progress, and tells what became of each. */
export function DeleteManyDialog() {
  const asked = deleteMany.value
  if (!asked) return null
  if (asked.step === 'looking') return <Looking asked={asked} />
  if (asked.step === 'asking') return <Asking asked={asked} />
  if (asked.step === 'done') return <Done asked={asked} />
  const { done, total } = asked
  return (
    <Running
      title={words.confirm.runningMany(total)}
      stopping={asked.step === 'stopping'}
      purging={asked.purging && total > 0 && done === total}
      progress={{ done, total }}
      onStop={() => void stopDeleteMany()}
    />
  )
}

const titleOf = (asked: DeleteMany) => words.confirm.titleMany(asked.titles.size)

function Looking({ asked }: { asked: DeleteMany }) {
  const text = words.confirm.looking(asked.looked, asked.titles.size)
  return (
    <Dialog
      title={titleOf(asked)}
      tone="danger"
      onClose={closeDeleteMany}
      actions={
        <Action first onClick={closeDeleteMany}>
          {words.cancel}
        </Action>
      }
    >
      <p>{text}</p>
      <progress aria-label={words.confirm.looksLabel} max={asked.titles.size} value={asked.looked} />
    </Dialog>
  )
}

function Asking({ asked }: { asked: DeleteMany }) {
  const counts = [...asked.plans.values()].map(countsOf)
  const sum = (of: (one: (typeof counts)[number]) => number) => counts.reduce((total, one) => total + of(one), 0)
  const none = asked.plans.size === 0
  const [kept, files] = [sum((one) => one.kept), sum((one) => one.files)]
  return (
    <Dialog
      title={titleOf(asked)}
      tone="danger"
      onClose={closeDeleteMany}
      actions={
        <>
          <Action first={none} onClick={closeDeleteMany}>
            {words.cancel}
          </Action>
          <Action kind="danger-strong" first={!none} disabled={none} onClick={() => void confirmDeleteMany()}>
            {asked.mode === 'erase' ? words.confirm.eraseNow : words.confirm.delete}
          </Action>
        </>
      }
    >
      {none ? (
        <p>{words.confirm.nothingToDo}</p>
      ) : (
        <ul class="sentences">
          <li>
            {words.confirm.many(
              asked.plans.size,
              sum((one) => one.parts + one.delegates),
              sum((one) => one.messages),
            )}
          </li>
          {files > 0 && <li>{words.confirm.filesMany(files)}</li>}
          {kept > 0 && <li>{words.confirm.staysMany(kept)}</li>}
        </ul>
      )}
      <RefusedList title={words.confirm.refusedMany(asked.refused.length)} refused={asked.refused} />
      {!none && <ModeChoice mode={asked.mode} onChoose={chooseModeMany} />}
    </Dialog>
  )
}

function RefusedList({ title, refused }: { title: string; refused: readonly Refused[] }) {
  if (refused.length === 0) return null
  return (
    <div class="refused">
      <p>{title}</p>
      <ul tabIndex={0} aria-label={title}>
        {refused.map((one) => (
          <li key={one.root}>{words.outcome.sentence(one.title, one.why)}</li>
        ))}
      </ul>
    </div>
  )
}

function Done({ asked }: { asked: DeleteMany }) {
  const outcome = asked.outcome
  const title = outcome && outcome.deleted > 0 ? words.outcome.manyTitle(outcome.deleted) : words.outcome.manyNone
  return (
    <Dialog
      title={outcome ? title : titleOf(asked)}
      onClose={closeDeleteMany}
      actions={
        <Action kind="strong" first onClick={closeDeleteMany}>
          {words.done}
        </Action>
      }
    >
      {asked.failure && <Problem failure={asked.failure} />}
      {outcome && (
        <>
          {asked.failure && outcome.deleted > 0 && <p>{words.outcome.manyDeleted(outcome.deleted)}</p>}
          {outcome.cancelled > 0 && <p>{words.outcome.manyCancelled(outcome.cancelled)}</p>}
          {outcome.leftovers > 0 && <p>{words.outcome.leftovers(outcome.leftovers)}</p>}
          <RefusedList title={words.outcome.manyRefused(outcome.refused.length)} refused={outcome.refused} />
          {outcome.erase && <EraseReport erase={outcome.erase} />}
        </>
      )}
    </Dialog>
  )
}
