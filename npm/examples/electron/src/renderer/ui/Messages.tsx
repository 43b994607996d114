import { useEffect, useRef } from 'preact/hooks'
import { dismiss, type Message, messages, spoken } from '../state/messages.ts'
import { banner } from '../state/start.ts'
import { restoring, stopRestoring } from '../state/undo.ts'
import { words } from '../strings.ts'
import { Icon } from './Icon.tsx'
import { Tool } from './Tool.tsx'

const shownFor = 12_000

/** What was done, at the window's edge, with a way back where there is one. A problem stays until it is dismissed. */
export function Messages() {
  return (
    <>
      <div class="messages" role="status" aria-live="polite" aria-relevant="additions">
        <Restoring />
        {messages.value.map((message) => (
          <Toast key={message.id} message={message} />
        ))}
      </div>
      <p class="hidden" role="status">
        {spoken.value}
      </p>
    </>
  )
}

/** One or a few are back before anybody could read this. */
const worthTelling = 4

function Restoring() {
  const now = restoring.value
  if (!now || now.total < worthTelling) return null
  const text = words.trash.restoring(now.done, now.total)
  return (
    <div class="toast toast-progress">
      <div class="toast-text">
        <p aria-hidden="true">{text}</p>
        <progress aria-label={text} max={now.total} value={now.done} />
      </div>
      <button type="button" class="button toast-action" aria-disabled={now.stopped} onClick={stopRestoring}>
        {words.stop}
      </button>
    </div>
  )
}

function Toast({ message }: { message: Message }) {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const wait = () => {
    clearTimeout(timer.current)
    // Behind a question nobody can reach it, so its time does not run there.
    const end = () => (document.querySelector('dialog[open]') ? wait() : dismiss(message.id))
    if (message.tone === 'done') timer.current = setTimeout(end, shownFor)
  }
  const hold = () => clearTimeout(timer.current)
  /** The button goes with the message: the focus is not to go with it. */
  const close = () => {
    dismiss(message.id)
    document.querySelector<HTMLElement>('[data-home-focus]')?.focus()
  }
  useEffect(() => {
    wait()
    return hold
  }, [])
  return (
    <div class={`toast toast-${message.tone}`} onMouseEnter={hold} onMouseLeave={wait} onFocusIn={hold} onFocusOut={wait}>
      <Icon name={message.tone === 'done' ? 'check' : 'warning'} />
      <div class="toast-text">
        <p>{message.text}</p>
        {message.more.map((line) => (
          <p key={line} class="toast-more">
            {line}
          </p>
        ))}
      </div>
      {message.action && (
        <button
          type="button"
          class="button toast-action"
          onClick={() => {
            close()
            message.action?.run()
          }}
        >
          {message.action.label}
        </button>
      )}
      <Tool icon="close" name={words.close} onClick={close} />
    </div>
  )
}

/** Whether the sidecar runs. The region is always there, so that a change of it is read out. */
export function Banner() {
  const said = banner.value
  return (
    <div class="banner-place" role="status">
      {said && (
        <p class={`banner banner-${said.state}`}>
          <Icon name={said.state === 'recovered' ? 'check' : said.state === 'failed' ? 'warning' : 'refresh'} />
          {said.sentence}
        </p>
      )}
    </div>
  )
}
