import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

type Props = {
  readonly title: string
  readonly children: ComponentChildren
  readonly footer: ComponentChildren
  /** What the Escape key does. */
  readonly onClose: () => void
  readonly tone?: 'danger'
  readonly onClickCapture?: (event: Event) => void
}

/** A modal question. The browser keeps the focus in it and the rest of the page out, and gives the focus back at its end. */
export function Dialog({ title, children, footer, onClose, tone, onClickCapture }: Props) {
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
      <div class="dialog-footer">{footer}</div>
    </dialog>
  )
}
