import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { profileAt, settingsOf } from '../src/host/profiles.js'
import { temporary } from './support/store.js'

describe('the settings', () => {
  test('name each profile that the command line names, beside the flags of Electron', () => {
    const { homes, ...rest } = settingsOf(['.', '--inspect=0', '--home', 'Work=/srv/work', '--no-sandbox', '--home=/srv/.agent', '--agent-dir', '/opt/agent'], {})
    expect(homes).toEqual([{ key: 'profile-1', name: 'Work', home: '/srv/work' }, { key: 'profile-2', name: 'agent', home: '/srv/.agent' }])
    expect(rest).toEqual({ agentDir: '/opt/agent' })
  })

  test('find the Agent’s own home and the profiles below it', () => {
    const base = join(temporary(), '.hermes')
    for (const name of ['work', 'empty']) mkdirSync(join(base, 'profiles', name), { recursive: true })
    mkdirSync(join(base, 'hermes-agent'))
    writeFileSync(join(base, 'profiles', 'work', 'state.db'), '')
    expect(settingsOf([], { HERMES_HOME: base })).toEqual({
      homes: [{ key: 'profile-1', name: 'hermes', home: base }, { key: 'profile-2', name: 'work', home: join(base, 'profiles', 'work') }],
      agentDir: join(base, 'hermes-agent'),
      baseHome: base,
    })
  })

  test('have no profile where there is none', () => {
    expect(settingsOf([], { HERMES_HOME: join(temporary(), 'none') })).toEqual({ homes: [] })
  })

  test.skipIf(process.platform === 'win32')('know a profile by its resolved folder too', () => {
    const folder = temporary(), link = join(folder, 'link')
    mkdirSync(join(folder, 'real'))
    symlinkSync(join(folder, 'real'), link)
    const { homes } = settingsOf(['--home', `Mine=${link}`], {})
    expect(profileAt(homes, join(folder, 'real'))?.key).toBe('profile-1')
    expect(profileAt(homes, folder)).toBeUndefined()
  })
})
