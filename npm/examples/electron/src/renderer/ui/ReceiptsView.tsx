import {
  currentReceipt,
  currentSequence,
  forgetAsked,
  forgetThrough,
  hasMoreReceipts,
  readMoreReceipts,
  readReceipts,
  receipts,
  receiptsFailure,
  receiptsPhase,
} from '../state/receipts.ts'
import { words } from '../strings.ts'
import type { Receipt } from '../types.ts'
import { Dialog } from './Dialog.tsx'
import { ListBox } from './ListBox.tsx'
import { Empty, Facts, PaneHead, Problem, Skeleton } from './Parts.tsx'

type Identity = Record<string, unknown> & { id: string }

/** A receipt is passed on as it was written, so nothing in it is taken for granted. */
function read(receipt: Receipt) {
  const said = receipt.deletion ?? {}
  const text = (name: string) => (typeof said[name] === 'string' ? (said[name] as string) : '')
  const identities = (Array.isArray(said.identities) ? said.identities : []).filter(
    (one): one is Identity => typeof one === 'object' && one !== null && typeof (one as Identity).id === 'string',
  )
  return { operation: text('operation_id'), reason: text('reason'), surface: text('surface'), identities }
}

export function ReceiptsList({ onOpen }: { onOpen: () => void }) {
  const count = receipts.value.length
  return (
    <>
      <PaneHead
        title={words.receipts.label}
        count={receiptsPhase.value === 'first' ? words.loading : words.receipts.count(count, hasMoreReceipts.value)}
      />
      <p class="intro quiet">{words.receipts.intro}</p>
      {receiptsFailure.value && <Problem failure={receiptsFailure.value} onAgain={() => void readReceipts()} />}
      {receiptsPhase.value === 'first' ? (
        <Skeleton rows={5} />
      ) : count > 0 ? (
        <ListBox
          id="receipts"
          label={words.receipts.label}
          items={receipts.value}
          keyOf={(one) => String(one.sequence)}
          row={(one) => <Row receipt={one} />}
          current={currentSequence.value === null ? null : String(currentSequence.value)}
          onCurrent={(key) => (currentSequence.value = Number(key))}
          onOpen={onOpen}
          hasMore={hasMoreReceipts.value}
          onMore={() => void readMoreReceipts()}
        />
      ) : (
        !receiptsFailure.value && <Empty icon="receipt" title={words.receipts.empty} hint={words.receipts.emptyHint} />
      )}
    </>
  )
}

const summaryOf = (receipt: Receipt) =>
  receipt.deletion ? words.receipts.sessions(read(receipt).identities.length) : words.receipts.unreadable

function Row({ receipt }: { receipt: Receipt }) {
  const { identities } = read(receipt)
  const first = identities[0]?.id ?? ''
  return (
    <span class="row-text">
      <span class="row-first">
        <span class="row-title">{words.receipts.name(receipt.sequence)}</span>
        <span class="row-when">{summaryOf(receipt)}</span>
      </span>
      <span class="row-second">
        <span class="row-facts" dir="auto" title={first}>
          {first}
        </span>
      </span>
    </span>
  )
}

export function ReceiptDetail() {
  const receipt = currentReceipt.value
  if (!receipt)
    return receipts.value.length > 0 ? <Empty icon="receipt" title={words.receipts.none} hint={words.receipts.noneHint} /> : null
  const { operation, reason, surface, identities } = read(receipt)
  const columns = Object.keys(words.receipts.columns) as (keyof typeof words.receipts.columns)[]
  return (
    <article class="detail-page" aria-labelledby="receipt-title">
      <header class="detail-head">
        <div class="detail-titles">
          <h2 id="receipt-title">{words.receipts.name(receipt.sequence)}</h2>
          <p class="quiet">{summaryOf(receipt)}</p>
        </div>
        <div class="detail-actions">
          <button type="button" class="button button-danger" onClick={() => (forgetAsked.value = receipt.sequence)}>
            {words.receipts.forget}
          </button>
        </div>
      </header>
      <Facts
        rows={[
          [words.receipts.operation, <code key="operation">{operation}</code>],
          [words.receipts.reason, words.receipts.reasonWords(reason)],
          [words.receipts.surface, words.receipts.surfaceWords(surface)],
        ]}
      />
      <section aria-labelledby="identities">
        <h3 id="identities">{words.receipts.identities}</h3>
        <div class="table-box" role="group" tabIndex={0} aria-labelledby="identities">
          <table>
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column} scope="col">
                    {words.receipts.columns[column]}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {identities.map((identity) => (
                <tr key={identity.id}>
                  {columns.map((column) => (
                    <td key={column} dir="auto">
                      {typeof identity[column] === 'string' ? (identity[column] as string) : '–'}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
    </article>
  )
}

export function ForgetDialog() {
  const sequence = forgetAsked.value
  if (sequence === null) return null
  const close = () => (forgetAsked.value = null)
  return (
    <Dialog
      title={words.receipts.forgetTitle(sequence)}
      tone="danger"
      onClose={close}
      footer={
        <>
          <span class="spring" />
          <button type="button" class="button" autofocus onClick={close}>
            {words.cancel}
          </button>
          <button
            type="button"
            class="button button-danger-strong"
            onClick={() => {
              close()
              void forgetThrough(sequence)
            }}
          >
            {words.receipts.forgetConfirm}
          </button>
        </>
      }
    >
      <p>{words.receipts.forgetBody}</p>
    </Dialog>
  )
}
