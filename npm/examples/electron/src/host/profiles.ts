import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Profile } from '../bridge.js'

/** A profile as the host knows it: with the folder that holds its `state.db`. The page never learns the folder. */
export type Home = Profile & { readonly home: string }

/** What the app is started with. */
export type Settings = {
  readonly homes: readonly Home[]
  readonly agentDir?: string
  readonly baseHome?: string
  /** The program, where it is not that of the installed platform package. */
  readonly binary?: string
  /** Where the Node host writes copies. */
  readonly copies?: string
}

/**
 * Reads `--home [NAME=]DIR` (as often as there are profiles), `--agent-dir DIR`, `--base-home DIR`, `--sidecar FILE` and `--copies DIR`. Without a
 * home, the Agent's own: HERMES_HOME or ~/.hermes, and the profiles below it. What else stands there is not ours: Electron has flags
 * of its own.
 */
export function settingsOf(words: readonly string[], env: NodeJS.ProcessEnv, { strict = false } = {}): Settings {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...words],
    options: { home: { type: 'string', multiple: true }, 'agent-dir': text, 'base-home': text, sidecar: text, copies: text },
    strict,
    allowPositionals: !strict,
  })
  const one = (name: 'agent-dir' | 'base-home' | 'sidecar' | 'copies') => {
    const value = values[name]
    return typeof value === 'string' && value !== '' ? resolve(value) : undefined
  }
  const named = (Array.isArray(values.home) ? values.home : []).filter((home) => typeof home === 'string').filter((home) => home !== '')
  // A home that was named and is empty (a variable that is not set, say) must not become the user's own history.
  if (values.home !== undefined && named.length === 0) throw new Error('--home needs a folder')
  const base = resolve(env.HERMES_HOME || join(homedir(), '.hermes'))
  const homes = named.length > 0 ? named.map(homeNamed) : homesBelow(base)
  const usual = join(base, 'hermes-agent') // where the Agent's own installer puts it
  return defined({
    homes: homes.map(({ name, home }, i) => ({ key: `profile-${i + 1}`, name, home })),
    agentDir: one('agent-dir') ?? (named.length === 0 && existsSync(usual) ? usual : undefined),
    baseHome: one('base-home') ?? (named.length === 0 && homes.length > 0 ? base : undefined),
    binary: one('sidecar') ?? (env.SIDECAR_BINARY || undefined),
    copies: one('copies'),
  })
}

/** `NAME=DIR`, or a folder that names itself. A folder whose path has a `=` in it needs the name. */
function homeNamed(text: string): { name: string; home: string } {
  const at = text.indexOf('=')
  const home = resolve(text.slice(at + 1))
  return { name: at > 0 ? text.slice(0, at) : nameOf(home), home }
}

function homesBelow(base: string): { name: string; home: string }[] {
  const profiles = join(base, 'profiles')
  const names = existsSync(profiles) ? readdirSync(profiles).filter((name) => existsSync(join(profiles, name, 'state.db'))).sort() : []
  const own = existsSync(base) ? [{ name: nameOf(base), home: base }] : []
  return [...own, ...names.map((name) => ({ name, home: join(profiles, name) }))]
}

const nameOf = (home: string) => basename(home).replace(/^\.+/, '') || home

/** The profile whose folder the sidecar names. It tells resolved paths, and a folder may have come, or been moved, since the start. */
export function profileAt(homes: readonly Home[], path: string): Home | undefined {
  return homes.find(({ home }) => home === path || resolved(home) === path)
}

/** A folder without links in its path; as it is where it is not there. */
export function resolved(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** An object without its undefined values. */
function defined<T extends object>(object: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T
}
