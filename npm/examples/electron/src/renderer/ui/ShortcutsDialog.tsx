import { shortcutsShown } from '../state/app.ts'
import { words } from '../strings.ts'
import { Action, Dialog } from './Dialog.tsx'

const command = navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl'

export function ShortcutsDialog() {
  if (!shortcutsShown.value) return null
  const close = () => (shortcutsShown.value = false)
  return (
    <Dialog
      title={words.shortcuts.title}
      onClose={close}
      actions={
        <Action kind="strong" first onClick={close}>
          {words.close}
        </Action>
      }
    >
      <dl class="shortcuts">
        {words.shortcuts.rows(command).map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
