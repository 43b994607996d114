import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

// A list of any length of which only what is seen is in the document. The list has the focus and names its current row
// (aria-activedescendant): a row that is scrolled away and leaves the document cannot take the focus with it.

export type ListBoxProps<Item> = {
  readonly id: string
  readonly label: string
  readonly describedBy?: string
  readonly items: readonly Item[]
  readonly keyOf: (item: Item) => string
  /** What it holds is also the row's name to a screen reader. */
  readonly row: (item: Item) => ComponentChildren
  readonly current: string | null
  readonly onCurrent: (key: string) => void
  /** With these, rows can be chosen, one by one or in ranges. */
  readonly checked?: ReadonlySet<string>
  readonly onChecked?: (checked: ReadonlySet<string>) => void
  readonly onOpen?: () => void
  readonly onDelete?: () => void
  readonly hasMore?: boolean
  readonly onMore?: () => void
  readonly busy?: boolean
}

const rowRem = 4.25
const spare = 6

const rowHeight = () => rowRem * (Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16)

export function ListBox<Item>(props: ListBoxProps<Item>) {
  const { items, keyOf, current, checked, onChecked } = props
  const box = useRef<HTMLDivElement>(null)
  /** Where a range began, and what was chosen before it. */
  const anchor = useRef<{ key: string; before: ReadonlySet<string> } | null>(null)
  const [seen, setSeen] = useState({ top: 0, height: 800 })
  const row = rowHeight()
  const at = items.findIndex((item) => keyOf(item) === current)

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const look = () => setSeen({ top: element.scrollTop, height: element.clientHeight })
    const sizes = new ResizeObserver(look)
    sizes.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      sizes.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [])

  useLayoutEffect(() => {
    const element = box.current
    if (!element || at < 0) return
    if (at * row < element.scrollTop) element.scrollTop = at * row
    else if ((at + 1) * row > element.scrollTop + element.clientHeight) element.scrollTop = (at + 1) * row - element.clientHeight
  }, [current, at, row])

  const first = Math.max(0, Math.floor(seen.top / row) - spare)
  const end = Math.min(items.length, Math.ceil((seen.top + seen.height) / row) + spare)
  const nearEnd = props.hasMore === true && end >= items.length - 1
  useEffect(() => {
    if (nearEnd) props.onMore?.()
  }, [nearEnd, items.length, props.busy])

  const idOf = (index: number) => `${props.id}-${index}`
  const range = (from: number, to: number, before: ReadonlySet<string>) => {
    const next = new Set(before)
    for (let i = Math.min(from, to); i <= Math.max(from, to); i++) next.add(keyOf(items[i] as Item))
    onChecked?.(next)
  }
  const toggle = (index: number) => {
    const next = new Set(checked)
    const key = keyOf(items[index] as Item)
    if (!next.delete(key)) next.add(key)
    anchor.current = { key, before: next }
    onChecked?.(next)
  }
  const go = (index: number, extend: boolean) => {
    const to = Math.min(Math.max(index, 0), items.length - 1)
    const item = items[to]
    if (!item) return
    if (extend && onChecked) {
      const begun = anchor.current ? items.findIndex((one) => keyOf(one) === anchor.current?.key) : -1
      const from = begun >= 0 ? begun : Math.max(at, 0)
      if (begun < 0) anchor.current = { key: keyOf(items[from] as Item), before: new Set(checked) }
      range(from, to, anchor.current?.before ?? new Set())
    } else {
      anchor.current = null
    }
    props.onCurrent(keyOf(item))
  }

  const onKeyDown = (event: KeyboardEvent) => {
    const command = event.ctrlKey || event.metaKey
    if (event.altKey || (command && event.key.toLowerCase() !== 'a')) return
    const pageful = Math.max(1, Math.floor(seen.height / row) - 1)
    if (event.key === 'ArrowDown') go(at + 1, event.shiftKey)
    else if (event.key === 'ArrowUp') go(at - 1, event.shiftKey)
    else if (event.key === 'PageDown') go(at + pageful, event.shiftKey)
    else if (event.key === 'PageUp') go(at - pageful, event.shiftKey)
    else if (event.key === 'Home') go(0, event.shiftKey)
    else if (event.key === 'End') go(items.length - 1, event.shiftKey)
    else if (event.key === ' ' && onChecked && at >= 0) toggle(at)
    else if (command && onChecked) range(0, items.length - 1, new Set())
    else if (event.key === 'Escape' && checked?.size) onChecked?.(new Set())
    else if (event.key === 'Enter' && props.onOpen) props.onOpen()
    else if (event.key === 'Delete' && props.onDelete) props.onDelete()
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  const onClick = (event: MouseEvent, index: number) => {
    const onCheck = event.target instanceof Element && event.target.closest('[data-check]') !== null
    if (onChecked && event.shiftKey) go(index, true)
    else if (onChecked && (event.ctrlKey || event.metaKey || onCheck)) toggle(index)
    else go(index, false)
  }

  const shown = Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i)
  if (at >= 0 && (at < first || at >= end)) shown.push(at)

  return (
    <div
      ref={box}
      id={props.id}
      class="listbox"
      role="listbox"
      tabIndex={0}
      aria-label={props.label}
      aria-describedby={props.describedBy}
      aria-multiselectable={onChecked ? true : undefined}
      aria-activedescendant={at >= 0 ? idOf(at) : undefined}
      aria-busy={props.busy}
      onKeyDown={onKeyDown}
      data-home-focus
    >
      <div role="none" class="listbox-all" style={{ height: `${items.length * row}px` }}>
        {shown.map((index) => {
          const item = items[index] as Item
          const key = keyOf(item)
          const isCurrent = index === at
          return (
            <div
              key={key}
              id={idOf(index)}
              role="option"
              class="listbox-row"
              aria-setsize={props.hasMore ? -1 : items.length}
              aria-posinset={index + 1}
              aria-selected={checked ? checked.has(key) : isCurrent}
              aria-current={isCurrent ? 'true' : undefined}
              style={{ transform: `translateY(${index * row}px)`, height: `${row}px` }}
              onClick={(event) => onClick(event, index)}
            >
              {props.row(item)}
            </div>
          )
        })}
      </div>
    </div>
  )
}
