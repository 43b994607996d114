import type { Signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { words } from '../strings.ts'
import { MemberCard } from './MemberCard.tsx'
import type { Member } from './family.ts'
import type { Card, Edge, Lane, Layout } from './layout.ts'

/** The height of the words over a group, on the screen. */
export const label = 13

type Props = {
  readonly layout: Layout
  /** How many units of the drawing are a pixel of the screen. */
  readonly unit: number
  readonly rtl: boolean
  /** Where each member stands when they are read one after the other, from 1. */
  readonly places: ReadonlyMap<Member, number>
  /** The place of the current card. A signal, so that to go on changes two cards and draws no others anew. */
  readonly chosen: Signal<number>
}

const arrow = { viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8 }

export const idOf = (index: number) => `member-${index}`

/** All that is drawn of a family. */
export function Drawing({ layout, unit, rtl, places, chosen }: Props) {
  const lanes = useMemo(() => layout.lanes.map((lane) => ({ lane, cards: cardsOf(lane, layout.cards) })), [layout])
  return (
    <>
      <defs aria-hidden="true">
        <pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <path class="hatch-line" d="M0 0V7" />
        </pattern>
        <marker id="arrow" {...arrow} markerUnits="userSpaceOnUse" orient="auto">
          <path class="arrow-head" d="M0 0 8 4 0 8z" />
        </marker>
      </defs>
      <g aria-hidden="true">
        {layout.edges.map((edge, i) => (
          <path key={i} class={`edge edge-${edge.kind}`} d={pathOf(edge)} marker-end={edge.arrow ? 'url(#arrow)' : undefined} />
        ))}
        {layout.cutY !== undefined && <path class="cut" d={`M0 ${layout.cutY}H${layout.width}`} />}
        {lanes.map(({ lane }) => (
          <text key={lane.name} class="lane-label" x={rtl ? layout.width : 0} y={lane.labelY + label * unit} font-size={label * unit}>
            {labelOf(lane)}
          </text>
        ))}
      </g>
      {lanes.map(({ lane, cards }) => (
        <g key={lane.name} role="group" aria-label={labelOf(lane)}>
          {cards.map(([card, i]) => (
            <MemberCard key={card.member.id} index={i} at={card} chosen={chosen} position={places.get(card.member) ?? 0} total={places.size} />
          ))}
        </g>
      ))}
    </>
  )
}

/** The cards of a group, with their places among all. */
function cardsOf(lane: Lane, cards: readonly Card[]) {
  const members = new Set(lane.members)
  return cards.flatMap((one, i) => (members.has(one.member) ? [[one, i] as const] : []))
}

const pathOf = (edge: Edge) => `M${edge.points.map(([x, y]) => `${x} ${y}`).join('L')}`

const labelOf = (lane: Lane) => {
  if (lane.name === 'kept') return words.family.kept(lane.members.length)
  const delegates = lane.members.filter((member) => member.role === 'delegate').length
  return words.family.going(lane.members.length - delegates, delegates)
}
