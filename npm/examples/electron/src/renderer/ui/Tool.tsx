import { Icon, type IconName } from './Icon.tsx'

type Props = { readonly icon: IconName; readonly name: string; readonly onClick: () => void; readonly disabled?: boolean }

/** A button that is only a drawing. Its name is read out, and shown where the pointer rests. */
export function Tool({ icon, name, onClick, disabled }: Props) {
  return (
    <button type="button" class="tool" aria-label={name} title={name} disabled={disabled} onClick={onClick}>
      <Icon name={icon} />
    </button>
  )
}
