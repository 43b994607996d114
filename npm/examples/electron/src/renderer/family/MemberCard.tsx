import { type Signal, useComputed } from '@preact/signals'
import { idOf } from './Drawing.tsx'
import { lineOfMember, sentenceOfMember } from './family.ts'
import { type Card, card } from './layout.ts'

type Props = {
  readonly index: number
  readonly at: Card
  readonly chosen: Signal<number>
  readonly position: number
  readonly total: number
}

const { width, height } = card

// Each role has a shape of its own, and what stays a pattern and a broken edge besides, so that nothing is told by colour alone.
const outlines = {
  part: `M8 0H${width - 8}A8 8 0 0 1 ${width} 8V${height - 8}A8 8 0 0 1 ${width - 8} ${height}H8A8 8 0 0 1 0 ${height - 8}V8A8 8 0 0 1 8 0z`,
  delegate: `M12 0H${width}V${height - 12}L${width - 12} ${height}H0V12z`,
  kept: `M26 0H${width - 26}A26 26 0 0 1 ${width - 26} ${height}H26A26 26 0 0 1 26 0z`,
} as const

const signs = { goes: 'M-4 0H4', stays: 'M-4 0.5-1 3.5 4.5-3' } as const

/** One member of a family. */
export function MemberCard({ index, at, chosen, position, total }: Props) {
  const { member } = at
  const current = useComputed(() => chosen.value === index)
  return (
    <g
      id={idOf(index)}
      class={`member member-${member.role} ${member.inUse ? 'member-in-use' : ''} ${member.why === 'requested' ? 'member-requested' : ''}`}
      role="option"
      aria-label={sentenceOfMember(member)}
      aria-selected={current}
      aria-posinset={position}
      aria-setsize={total}
      transform={`translate(${at.x} ${at.y})`}
      onClick={() => (chosen.value = index)}
    >
      <path class="member-ring" d={outlines[member.role]} />
      <path class="member-shape" d={outlines[member.role]} />
      {member.role === 'kept' && <path d={outlines.kept} fill="url(#hatch)" />}
      <g class="member-sign" transform={`translate(22 ${height / 2})`}>
        <circle r="9" />
        <path d={signs[member.fate]} />
      </g>
      <foreignObject x="40" y="0" width={width - 56} height={height}>
        <div class="member-text">
          <span class="member-name" dir="auto">
            {member.name}
          </span>{' '}
          <span class="member-why">{lineOfMember(member)}</span>
        </div>
      </foreignObject>
    </g>
  )
}
