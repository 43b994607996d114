import { words } from '../strings.ts'
import { type Family, type Member, sentenceOfMember } from './family.ts'

/** The same as the picture, in words. */
export function FamilyList({ family }: { family: Family }) {
  const parts = family.blocks.map((block) => block.part)
  const delegates = [...family.blocks.flatMap((block) => block.delegates), ...family.loose]
  return (
    <div class="family-list" tabIndex={0} role="group" aria-label={words.family.heading}>
      <Group title={words.family.going(parts.length, 0)} members={parts} />
      <Group title={words.family.going(0, delegates.length)} members={delegates} />
      <Group title={words.family.kept(family.kept.length)} members={family.kept} />
    </div>
  )
}

function Group({ title, members }: { title: string; members: readonly Member[] }) {
  if (members.length === 0) return null
  return (
    <section>
      <h4>{title}</h4>
      <ul>
        {members.map((member) => (
          <li key={member.id} class={`fate-${member.fate}`} title={sentenceOfMember(member)}>
            <span class="family-list-name" dir="auto">
              {member.name}
            </span>
            <span class="quiet">{words.family.why(member.why)}</span>
            <span class="quiet family-list-count">{member.messages === undefined ? '' : words.list.messages(member.messages)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
