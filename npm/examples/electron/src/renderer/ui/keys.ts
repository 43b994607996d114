import { type View, view, views } from '../state/app.ts'
import { deleteChosen } from '../state/delete-chosen.ts'
import { openView } from '../state/start.ts'
import { takeBackLast } from '../state/undo.ts'

// The keys of the whole window. A list or a picture that has the focus takes its own before.

/** In a page with a list the way to it is the list itself, since that takes the keys. */
export const focusPane = (name: 'list' | 'detail') =>
  (name === 'list' ? document.querySelector<HTMLElement>('#list [role=listbox]') : document.getElementById('detail'))?.focus()

const isText = (target: EventTarget | null) => target instanceof HTMLInputElement && (target.type === 'search' || target.type === 'text')

/** The key that deletes, also where a keyboard has none of that name. */
const isDelete = (event: KeyboardEvent) => event.key === 'Delete' || (event.key === 'Backspace' && event.metaKey)

export function onKeyDown(event: KeyboardEvent) {
  if (document.querySelector('dialog[open]')) return
  const command = (event.ctrlKey || event.metaKey) && !event.altKey
  const key = event.key.toLowerCase()
  if (command && key === 'f' && !event.shiftKey) {
    openView('conversations')
    // The view may only just come into the document.
    requestAnimationFrame(() => {
      const field = document.getElementById('search') as HTMLInputElement | null
      field?.focus()
      field?.select()
    })
  } else if (command && /^[1-4]$/.test(key)) {
    openView(views[Number(key) - 1] as View)
    requestAnimationFrame(() => focusPane(document.querySelector('#list [role=listbox]') ? 'list' : 'detail'))
  } else if (command && key === 'z' && !event.shiftKey && !isText(event.target)) void takeBackLast()
  else if (isDelete(event) && view.value === 'conversations' && !isText(event.target)) deleteChosen()
  else if (event.key === 'Escape' && view.value !== 'cleanup') focusPane('list')
  else if (event.key === 'F6') nextPane(event.shiftKey)
  else return
  event.preventDefault()
}

function nextPane(backwards: boolean) {
  const stops = [
    document.querySelector<HTMLElement>('nav [aria-current=page]'),
    document.querySelector<HTMLElement>('#list [role=listbox]') ?? document.querySelector<HTMLElement>('#list button'),
    document.getElementById('detail'),
  ].filter((one) => one !== null)
  const at = stops.findIndex((stop) => stop === document.activeElement || stop.contains(document.activeElement))
  stops.at((at + (backwards ? -1 : 1)) % stops.length)?.focus()
}
