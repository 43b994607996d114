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
import { Question } from './Dialog.tsx'
import { ListBox } from './ListBox.tsx'
import { DetailHead, Empty, Facts, ListBody, PaneHead } from './Parts.tsx'

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
      <ListBody
        waiting={receiptsPhase.value === 'first'}
        failure={receiptsFailure.value}
        onAgain={() => void readReceipts()}
        empty={<Empty icon="receipt" title={words.receipts.empty} hint={words.receipts.emptyHint} />}
      >
        {count > 0 && (
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
        )}
      </ListBody>
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
      <DetailHead
        id="receipt-title"
        title={words.receipts.name(receipt.sequence)}
        actions={
          <button type="button" class="button button-danger" onClick={() => (forgetAsked.value = receipt.sequence)}>
            {words.receipts.forget}
          </button>
        }
      >
        <p class="quiet">{summaryOf(receipt)}</p>
      </DetailHead>
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
  return (
    <Question
      title={words.receipts.forgetTitle(sequence)}
      body={words.receipts.forgetBody}
      confirm={words.receipts.forgetConfirm}
      onConfirm={() => void forgetThrough(sequence)}
      onClose={() => (forgetAsked.value = null)}
    />
  )
}
