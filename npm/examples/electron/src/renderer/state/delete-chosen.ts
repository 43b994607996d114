import { checkedConversations, current } from './conversations.ts'
import { askToDeleteMany } from './delete-many.ts'
import { askToDelete } from './delete-one.ts'

/** Asks to delete what is selected, or else what is looked at. */
export function deleteChosen() {
  const selected = checkedConversations.value
  const root = selected[0]?.root ?? current.value
  if (selected.length > 1) void askToDeleteMany()
  else if (root) void askToDelete(root)
}
