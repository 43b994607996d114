import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { words } from '../strings.ts'
import { Tool } from '../ui/Tool.tsx'
import { Drawing, idOf, label } from './Drawing.tsx'
import { type Family, membersOf, sentenceOfMember } from './family.ts'
import { type Card, card, layoutOf, nextCard } from './layout.ts'

// The picture scrolls in a box of its own, so that the browser's scrolling, by wheel, finger or bar, is how it is moved. Zooming only
// changes its size.

const margin = 16
const smallest = 0.15
const largest = 2
/** Below this words on the cards are too small to read at the beginning: a large family is scrolled through instead. */
const readable = 0.85
const step = 1.25
const panBy = 80

const unitOf = (scale: number) => Math.min(1 / scale, 4)

type Props = { readonly family: Family; readonly label: string }

export function Picture({ family, label: name }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const [room, setRoom] = useState({ width: 640, height: 320 })
  const [zoom, setZoom] = useState<number | 'fit' | 'begin'>('begin')
  const chosen = useSignal(0)
  const rtl = getComputedStyle(document.documentElement).direction === 'rtl'

  const aspect = Math.max(0.8, Math.min(3, room.width / Math.max(room.height, 260)))
  // The words over each group keep their size on the screen, so they need more room in a picture that is made smaller.
  const laidOut = (unit: number) => layoutOf(family, { aspect, labelHeight: label * 2 * Math.max(1, unit), rtl })
  const [plain, fit] = useMemo(() => {
    const fitting = ({ width, height }: { width: number; height: number }) =>
      Math.max(smallest, Math.min(1, (room.width - margin * 2) / width, (room.height - margin * 2) / height))
    const [plain, first] = [laidOut(1), fitting(laidOut(1))]
    return [plain, fitting(laidOut(unitOf(first)))] as const
  }, [family, aspect, rtl, room.width, room.height])
  const scale = zoom === 'fit' ? fit : zoom === 'begin' ? Math.max(fit, readable) : zoom
  const unit = unitOf(scale)
  const layout = useMemo(() => laidOut(unit), [family, aspect, rtl, unit])
  const places = useMemo(() => new Map(membersOf(family).map((member, i) => [member, i + 1])), [family])
  const drawing = useMemo(() => <Drawing {...{ layout, unit, rtl, places, chosen }} />, [layout, unit, rtl, places])
  const current = Math.min(chosen.value, layout.cards.length - 1)
  const at = layout.cards[current]

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const look = () => setRoom({ width: element.clientWidth, height: Math.max(element.clientHeight, 260) })
    look()
    const sizes = new ResizeObserver(look)
    sizes.observe(element)
    return () => sizes.disconnect()
  }, [])

  // In a page that is read from the right the family begins there.
  useEffect(() => box.current?.scrollTo(rtl ? box.current.scrollWidth : 0, 0), [])

  /** Changes the size around a point of the box, the middle of it where none is named. */
  const zoomTo = (next: number, point?: { x: number; y: number }) => {
    const element = box.current
    const to = Math.min(largest, Math.max(smallest, next))
    if (!element || to === scale) return
    const x = point?.x ?? element.clientWidth / 2
    const y = point?.y ?? element.clientHeight / 2
    const [left, top] = [(element.scrollLeft + x - margin) / scale, (element.scrollTop + y - margin) / scale]
    setZoom(to)
    requestAnimationFrame(() => element.scrollTo(left * to + margin - x, top * to + margin - y))
  }

  // Preact listens passively for the wheel; to keep the page from zooming with the picture, this one must not.
  useEffect(() => {
    const element = box.current
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      const place = element?.getBoundingClientRect()
      zoomTo(scale * Math.exp(-event.deltaY / 300), { x: event.clientX - (place?.left ?? 0), y: event.clientY - (place?.top ?? 0) })
    }
    element?.addEventListener('wheel', wheel, { passive: false })
    return () => element?.removeEventListener('wheel', wheel)
  })

  const level = scale < 0.45 ? 'far' : scale < 0.7 ? 'middle' : 'near'
  // Words over a narrow family may be wider than it, so the picture is never narrower than its box.
  const width = Math.max(layout.width * scale + margin * 2, room.width)
  const height = layout.height * scale + margin * 2
  const begin = rtl ? layout.width + margin / scale - width / scale : -margin / scale

  /** Where a card is seen in the box, or nothing where it is not. */
  const placeOf = (one: Card | undefined) => {
    const element = box.current
    if (!one || !element) return undefined
    const x = (one.x + card.width / 2 - begin) * scale - element.scrollLeft
    const y = (one.y + card.height / 2) * scale + margin - element.scrollTop
    return x >= 0 && x <= element.clientWidth && y >= 0 && y <= element.clientHeight ? { x, y } : undefined
  }

  const goTo = (to: Card | undefined) => {
    if (!to) return
    chosen.value = layout.cards.indexOf(to)
    reveal(box.current, to, scale, begin)
  }

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const arrows = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' } as const
    const direction = arrows[event.key as keyof typeof arrows]
    if (direction && event.shiftKey) {
      const sign = direction === 'left' || direction === 'up' ? -1 : 1
      box.current?.scrollBy(direction === 'left' || direction === 'right' ? { left: sign * panBy } : { top: sign * panBy })
    } else if (direction) goTo(at && nextCard(layout.cards, at, direction))
    else if (event.key === 'Home') goTo(layout.cards[0])
    else if (event.key === 'End') goTo(layout.cards.at(-1))
    else if (event.key === '+' || event.key === '=') zoomTo(scale * step, placeOf(at))
    else if (event.key === '-' || event.key === '_') zoomTo(scale / step, placeOf(at))
    else if (event.key === '0') setZoom('fit')
    else return
    event.preventDefault()
  }

  return (
    <div class="picture">
      <div
        ref={box}
        class="picture-box"
        style={{ '--picture-height': `${plain.height * Math.max(fit, readable) + margin * 2}px` }}
        {...dragging}
      >
        <svg
          class={`family level-${level}`}
          role="listbox"
          aria-label={name}
          aria-describedby="picture-keys"
          aria-activedescendant={at ? idOf(current) : undefined}
          tabindex={0}
          style={{ '--middle-size': `${11 / scale}px`, '--ring-size': `${6 / Math.min(scale, 1)}px` }}
          width={width}
          height={height}
          viewBox={`${begin} ${-margin / scale} ${width / scale} ${height / scale}`}
          onKeyDown={onKeyDown}
        >
          {drawing}
        </svg>
      </div>
      <div class="picture-foot">
        <p class="picture-caption" aria-hidden="true">
          {at && sentenceOfMember(at.member)}
        </p>
        <div class="picture-tools" role="group" aria-label={words.family.zoom}>
          <Tool icon="minus" name={words.family.zoomOut} disabled={scale <= smallest} onClick={() => zoomTo(scale / step)} />
          <output class="picture-zoom" aria-live="off">
            {words.family.zoomed(Math.round(scale * 100))}
          </output>
          <Tool icon="plus" name={words.family.zoomIn} disabled={scale >= largest} onClick={() => zoomTo(scale * step)} />
          <Tool icon="fit" name={words.family.zoomFit} onClick={() => setZoom('fit')} />
        </div>
      </div>
      <p id="picture-keys" class="hidden">
        {words.family.keys}
      </p>
    </div>
  )
}

/** Scrolls only as far as a card needs to be seen whole. */
function reveal(element: HTMLElement | null, to: Card, scale: number, begin: number) {
  if (!element) return
  const edge = (from: number, size: number, seenFrom: number, seen: number) =>
    from - margin < seenFrom ? from - margin : from + size + margin > seenFrom + seen ? from + size + margin - seen : seenFrom
  const left = edge((to.x - begin) * scale, card.width * scale, element.scrollLeft, element.clientWidth)
  const top = edge(to.y * scale + margin, card.height * scale, element.scrollTop, element.clientHeight)
  element.scrollTo(left, top)
}

/** With the pointer held down the picture follows it. A finger scrolls by itself. */
const dragging = {
  onPointerDown(event: PointerEvent) {
    const box = event.currentTarget as HTMLElement
    if (event.pointerType === 'touch' || event.button !== 0) return
    const from = { x: event.clientX + box.scrollLeft, y: event.clientY + box.scrollTop }
    const move = (moved: PointerEvent) => box.scrollTo(from.x - moved.clientX, from.y - moved.clientY)
    const end = () => {
      window.removeEventListener('pointermove', move)
      window.removeEventListener('pointerup', end)
    }
    window.addEventListener('pointermove', move)
    window.addEventListener('pointerup', end)
  },
}
