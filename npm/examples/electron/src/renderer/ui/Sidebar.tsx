import { profileKey, profiles, severalProfiles, shortcutsShown, theme, themes, view, views } from '../state/app.ts'
import { leftToClean } from '../state/cleanup.ts'
import { openProfile, openView } from '../state/start.ts'
import { entries } from '../state/trash.ts'
import { words } from '../strings.ts'
import { Icon, type IconName } from './Icon.tsx'
import { Tool } from './Tool.tsx'

const icons = { conversations: 'chat', trash: 'trash', receipts: 'receipt', cleanup: 'broom' } as const
const themeIcons: Record<(typeof themes)[number], IconName> = { auto: 'system', light: 'sun', dark: 'moon' }

export function Sidebar() {
  return (
    <header class="sidebar">
      {severalProfiles.value && (
        <label class="profile">
          <span class="hidden">{words.sidebar.profile}</span>
          <select value={profileKey.value} onChange={(event) => void openProfile(event.currentTarget.value)}>
            {profiles.value.map((profile) => (
              <option key={profile.key} value={profile.key}>
                {profile.name}
              </option>
            ))}
          </select>
        </label>
      )}
      <nav aria-label={words.sidebar.label}>
        <ul>
          {views.map((one) => (
            <li key={one}>
              <button
                type="button"
                class="nav"
                title={words.sidebar[one]}
                aria-current={view.value === one ? 'page' : undefined}
                onClick={() => openView(one)}
              >
                <Icon name={icons[one]} />
                <span class="nav-name">{words.sidebar[one]}</span>
                <Badge view={one} />
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <div class="sidebar-foot">
        <fieldset class="segments theme">
          <legend class="hidden">{words.sidebar.theme}</legend>
          {themes.map((one) => (
            <label key={one} title={words.sidebar.themes[one]}>
              <input type="radio" name="theme" checked={theme.value === one} onChange={() => (theme.value = one)} />
              <span>
                <Icon name={themeIcons[one]} />
                <span class="hidden">{words.sidebar.themes[one]}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <Tool icon="keyboard" name={words.sidebar.shortcuts} onClick={() => (shortcutsShown.value = true)} />
      </div>
    </header>
  )
}

function Badge({ view: of }: { view: (typeof views)[number] }) {
  const count = of === 'trash' ? entries.value.length : of === 'cleanup' ? leftToClean.value : 0
  if (count === 0 || (of !== 'trash' && of !== 'cleanup')) return null
  return (
    <span class={`badge badge-${of}`}>
      <span aria-hidden="true">{words.format.number(count)}</span>
      <span class="hidden">{words.sidebar.badge[of](count)}</span>
    </span>
  )
}
