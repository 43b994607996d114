import { signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { conversations } from '../state/conversations.ts'
import { words } from '../strings.ts'
import type { Preview } from '../types.ts'
import { FamilyList } from './FamilyList.tsx'
import { Picture } from './Picture.tsx'
import { familyOf } from './family.ts'

/** The choice holds for every conversation. */
const shown = signal<'picture' | 'list'>('picture')

/** What goes and what stays, as a picture or as a list. */
export function FamilyView({ preview, title }: { preview: Preview; title: string }) {
  // What branched off is a conversation of its own, and so in the list, where that has been read so far.
  const family = useMemo(() => {
    const titles = new Map(conversations.peek().map((one) => [one.root, one.title]))
    return familyOf(preview, (id) => titles.get(id))
  }, [preview])
  const choice = (value: 'picture' | 'list', name: string) => (
    <label>
      <input type="radio" name="family-shown" checked={shown.value === value} onChange={() => (shown.value = value)} />
      <span>{name}</span>
    </label>
  )
  return (
    <section class="family-view" aria-labelledby="family-heading">
      <header class="section-head">
        <h3 id="family-heading">{words.family.heading}</h3>
        <p class="chips">
          <span class="chip chip-goes">{words.family.goes(family.goes)}</span>
          {family.kept.length > 0 && <span class="chip chip-stays">{words.family.stays(family.kept.length)}</span>}
        </p>
        <fieldset class="segments">
          <legend class="hidden">{words.family.shownAs}</legend>
          {choice('picture', words.family.asPicture)}
          {choice('list', words.family.asList)}
        </fieldset>
      </header>
      {shown.value === 'picture' ? <Picture family={family} label={words.family.label(title)} /> : <FamilyList family={family} />}
    </section>
  )
}
