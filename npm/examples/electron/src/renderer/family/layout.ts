import type { Block, Family, Member } from './family.ts'

// Where each member of a family stands in its picture. Numbers in, numbers out: nothing here knows of the document.
//
// The parts of a conversation stand below each other along a line, each with its delegates beside it; where that would be too long
// for the window it goes on in another column, as in a newspaper. Then come the delegates that belong to no part for certain, and,
// behind a line that cuts, what stays.

export type Point = readonly [x: number, y: number]
export type Card = { readonly member: Member; readonly x: number; readonly y: number }
export type Edge = { readonly kind: 'follows' | 'worked'; readonly points: readonly Point[]; readonly arrow: boolean }
export type Lane = { readonly name: 'parts' | 'delegates' | 'kept'; readonly members: readonly Member[]; readonly labelY: number }
export type Layout = {
  readonly width: number
  readonly height: number
  readonly cards: readonly Card[]
  readonly edges: readonly Edge[]
  readonly lanes: readonly Lane[]
  /** The height of the line between what goes and what stays. */
  readonly cutY?: number
}

export const card = { width: 184, height: 52 } as const
const gap = 12
const indent = 36
const columnGap = 44
const laneGap = 28
const stepX = card.width + gap
const stepY = card.height + gap

/** How many columns make of so many cards a shape that is about `aspect` times as wide as high. */
const columnsFor = (count: number, aspect: number) => Math.max(1, Math.min(count, Math.ceil(Math.sqrt((count * aspect * stepY) / stepX))))

type Sized = { readonly block: Block; readonly columns: number; readonly width: number; readonly height: number }

function sized(block: Block, aspect: number): Sized {
  const count = block.delegates.length
  if (count === 0) return { block, columns: 0, width: card.width, height: card.height }
  const columns = columnsFor(count, aspect)
  return { block, columns, width: card.width + indent + columns * stepX - gap, height: Math.ceil(count / columns) * stepY - gap }
}

const heightOf = (column: readonly Sized[]) => column.reduce((sum, one) => sum + one.height + gap * 2, -gap * 2)
const widthOf = (column: readonly Sized[]) => Math.max(...column.map((one) => one.width))

/** The blocks in columns, none of them higher than `height` unless one block is. */
function columnsOf(blocks: readonly Sized[], height: number): Sized[][] {
  const columns: Sized[][] = [[]]
  let filled = 0
  for (const one of blocks) {
    if (filled > 0 && filled + one.height > height) {
      columns.push([])
      filled = 0
    }
    columns.at(-1)?.push(one)
    filled += one.height + gap * 2
  }
  return columns
}

const mostColumns = 16
const shapes = [1, 0.5, 0.25, 2]

/** Tries how many columns, and how wide blocks, make of it what is seen largest in a window of that shape. */
function bestColumns(blocks: readonly Block[], aspect: number): Sized[][] {
  let best: Sized[][] = []
  let least = Number.POSITIVE_INFINITY
  for (const shape of shapes) {
    const all = blocks.map((block) => sized(block, aspect * shape))
    const whole = heightOf(all)
    for (let count = 1; count <= Math.min(blocks.length, mostColumns); count++) {
      const columns = columnsOf(all, whole / count + gap)
      const width = columns.reduce((sum, column) => sum + widthOf(column) + columnGap, -columnGap)
      const needed = Math.max(width / aspect, ...columns.map(heightOf))
      if (needed < least - 1) [best, least] = [columns, needed]
    }
  }
  return best
}

export function layoutOf(
  family: Family,
  options: { readonly aspect: number; readonly labelHeight: number; readonly rtl: boolean },
): Layout {
  const { aspect, labelHeight } = options
  const cards: Card[] = []
  const edges: Edge[] = []
  const lanes: Lane[] = []
  let y = 0
  let width = 0

  const openLane = (name: Lane['name'], members: readonly Member[]) => {
    lanes.push({ name, members, labelY: y })
    y += labelHeight
  }

  if (family.blocks.length > 0) {
    openLane(
      'parts',
      family.blocks.flatMap((block) => [block.part, ...block.delegates]),
    )
    const columns = bestColumns(family.blocks, aspect)
    let x = 0
    let bottom = y
    let before: { x: number; y: number; column: number } | undefined
    columns.forEach((column, number) => {
      let top = y
      for (const one of column) {
        cards.push({ member: one.block.part, x, y: top })
        if (before) edges.push(follows(before, { x, y: top, column: number }, y, family.ordered))
        placeDelegates(one, x, top, cards, edges)
        before = { x, y: top, column: number }
        top += one.height + gap * 2
      }
      bottom = Math.max(bottom, top - gap * 2)
      x += widthOf(column) + columnGap
    })
    width = x - columnGap
    y = bottom + laneGap
  }

  const grid = (members: readonly Member[]) => {
    const columns = Math.max(Math.floor((width + gap) / stepX), columnsFor(members.length, aspect))
    members.forEach((member, i) => cards.push({ member, x: (i % columns) * stepX, y: y + Math.floor(i / columns) * stepY }))
    width = Math.max(width, Math.min(columns, members.length) * stepX - gap)
    y += Math.ceil(members.length / columns) * stepY - gap + laneGap
  }
  if (family.loose.length > 0) {
    openLane('delegates', family.loose)
    grid(family.loose)
  }
  let cutY: number | undefined
  if (family.kept.length > 0) {
    if (cards.length > 0) {
      cutY = y
      y += laneGap / 2
    }
    openLane('kept', family.kept)
    grid(family.kept)
  }
  const layout = { width, height: Math.max(0, y - laneGap), cards, edges, lanes, ...(cutY !== undefined && { cutY }) }
  return options.rtl ? mirrored(layout) : layout
}

/** From one part to the next: straight down, or, to another column, around its head. */
function follows(
  from: { x: number; y: number; column: number },
  to: { x: number; y: number; column: number },
  top: number,
  arrow: boolean,
): Edge {
  const fromX = from.x + indent / 2
  const toX = to.x + indent / 2
  const start: Point = [fromX, from.y + card.height]
  if (from.column === to.column) return { kind: 'follows', points: [start, [toX, to.y]], arrow }
  const between = to.x - columnGap / 2
  const low = from.y + card.height + gap
  return {
    kind: 'follows',
    points: [start, [fromX, low], [between, low], [between, top + card.height / 2], [to.x, top + card.height / 2]],
    arrow,
  }
}

/** The delegates stand in rows beside their part; a line behind each row ties it to the part. */
function placeDelegates({ block, columns }: Sized, x: number, y: number, cards: Card[], edges: Edge[]) {
  if (block.delegates.length === 0) return
  const left = x + card.width + indent
  const stem = x + card.width + indent / 2
  block.delegates.forEach((member, i) => {
    const column = i % columns
    const cardX = left + column * stepX
    const cardY = y + Math.floor(i / columns) * stepY
    const middle = cardY + card.height / 2
    cards.push({ member, x: cardX, y: cardY })
    if (column > 0)
      edges.push({
        kind: 'worked',
        points: [
          [cardX - gap, middle],
          [cardX, middle],
        ],
        arrow: false,
      })
    else
      edges.push({
        kind: 'worked',
        points: [
          [x + card.width, y + card.height / 2],
          [stem, y + card.height / 2],
          [stem, middle],
          [cardX, middle],
        ],
        arrow: false,
      })
  })
}

const mirrored = (layout: Layout): Layout => ({
  ...layout,
  cards: layout.cards.map((one) => ({ ...one, x: layout.width - one.x - card.width })),
  edges: layout.edges.map((edge) => ({ ...edge, points: edge.points.map(([x, y]): Point => [layout.width - x, y]) })),
})

/** The card that lies next in a direction, as the eye would go. */
export function nextCard(cards: readonly Card[], from: Card, direction: 'left' | 'right' | 'up' | 'down'): Card | undefined {
  const horizontal = direction === 'left' || direction === 'right'
  const sign = direction === 'left' || direction === 'up' ? -1 : 1
  let best: Card | undefined
  let nearest = Number.POSITIVE_INFINITY
  for (const one of cards) {
    const along = (horizontal ? one.x - from.x : one.y - from.y) * sign
    const across = Math.abs(horizontal ? one.y - from.y : one.x - from.x)
    if (along <= 0) continue
    const distance = along + across * 3
    if (distance < nearest) [best, nearest] = [one, distance]
  }
  return best
}
