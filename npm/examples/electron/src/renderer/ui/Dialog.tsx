import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { words } from '../strings.ts'

type Props = {
  readonly title: string
  readonly children: ComponentChildren
  /** Its buttons, as `Action`s. */
  readonly actions: ComponentChildren
  /** What stands apart from them, at the other end. */
  readonly aside?: ComponentChildren
  /** What the Escape key does. */
  readonly onClose: () => void
  readonly tone?: 'danger'
  readonly onClickCapture?: (event: Event) => void
}

/** A modal question. The browser keeps the focus in it and the rest of the page out, and gives the focus back at its end. */
export function Dialog({ title, children, actions, aside, onClose, tone, onClickCapture }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()

  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => {
      element?.close()
      // What had the focus may be gone with what was deleted: then the list is where to go on.
      queueMicrotask(() => {
        if (document.activeElement === document.body) document.querySelector<HTMLElement>('[data-home-focus]')?.focus()
      })
    }
  }, [])

  return (
    <dialog
      ref={dialog}
      class={`dialog ${tone ?? ''}`}
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-body`}
      onClickCapture={onClickCapture}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <h2 id={`${id}-title`} class="dialog-title">
        {title}
      </h2>
      <div id={`${id}-body`} class="dialog-body">
        {children}
      </div>
      <div class="dialog-footer">
        {aside}
        <span class="spring" />
        {actions}
      </div>
    </dialog>
  )
}

type ActionProps = {
  readonly children: ComponentChildren
  readonly onClick: () => void
  readonly kind?: 'plain' | 'strong' | 'danger-strong'
  /** Whether it has the focus at first, so that Enter means it. */
  readonly first?: boolean
  /** It keeps its place and the focus, and is read out as one that does nothing now. */
  readonly disabled?: boolean
}

/** A button of a dialog. */
export function Action({ children, onClick, kind = 'plain', first = false, disabled }: ActionProps) {
  return (
    <button type="button" class={kind === 'plain' ? 'button' : `button button-${kind}`} autofocus={first} aria-disabled={disabled} onClick={onClick}>
      {children}
    </button>
  )
}

type QuestionProps = { readonly title: string; readonly body: string; readonly confirm: string; readonly onConfirm: () => void; readonly onClose: () => void }

/** Asks once before something that cannot be taken back. Enter means no. */
export function Question({ title, body, confirm, onConfirm, onClose }: QuestionProps) {
  const yes = () => {
    onClose()
    onConfirm()
  }
  return (
    <Dialog
      title={title}
      tone="danger"
      onClose={onClose}
      actions={
        <>
          <Action first onClick={onClose}>
            {words.cancel}
          </Action>
          <Action kind="danger-strong" onClick={yes}>
            {confirm}
          </Action>
        </>
      }
    >
      <p>{body}</p>
    </Dialog>
  )
}
