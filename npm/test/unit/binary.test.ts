import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { program, temporary } from '../support/world.ts'
import platforms from '../../platforms.json' with { type: 'json' }

const platformPackage = `session-sidecar-${process.platform}-${process.arch}`
const name = process.platform === 'win32' ? 'sidecar.exe' : 'sidecar'
const onWindows = process.platform === 'win32'

/** Makes node_modules of an app in which the client and a platform package lie as an installation leaves them. */
function installed(under = '', packageName = platformPackage) {
  const app = temporary(), modules = join(app, under, 'node_modules')
  const client = join(modules, 'session-sidecar'), platform = join(modules, packageName)
  mkdirSync(join(platform, 'bin'), { recursive: true })
  mkdirSync(client)
  cpSync(fileURLToPath(new URL('../../dist', import.meta.url)), join(client, 'dist'), { recursive: true })
  copyFileSync(new URL('../../package.json', import.meta.url), join(client, 'package.json'))
  writeFileSync(join(platform, 'package.json'), JSON.stringify({ name: packageName, version: '0.0.0' }))
  copyFileSync(program, join(platform, 'bin', name))
  chmodSync(join(platform, 'bin', name), 0o755)
  return { app, client, platform, sidecar: join(platform, 'bin', name) }
}

const script = `start().then(
  async (sidecar) => { console.log('pid', sidecar.pid); await sidecar.close() },
  (error) => console.log(error.name, error.reason, error.message))`

/** Starts a sidecar as an app would that has this client in its node_modules, and gives what came of it. */
function startFrom(client: string, kind: 'esm' | 'cjs' = 'esm'): string {
  const path = JSON.stringify(join(client, 'dist', kind === 'esm' ? 'index.js' : 'index.cjs'))
  const code = kind === 'esm' ? `import { start } from ${path};` : `const { start } = require(${path});`
  return execFileSync(process.execPath, [`--input-type=${kind === 'esm' ? 'module' : 'commonjs'}`, '-e', code + script], { encoding: 'utf8' }).trim()
}

describe('the program', () => {
  test('of the platform package is found from either kind of module', () => {
    const { client } = installed()
    expect(startFrom(client)).toMatch(/^pid \d+$/)
    expect(startFrom(client, 'cjs')).toMatch(/^pid \d+$/)
  })

  test('that is not installed is explained', () => {
    const { client, platform } = installed()
    rmSync(platform, { recursive: true })
    expect(startFrom(client)).toBe(`SidecarError sidecar_unusable The package ${platformPackage} is missing: install session-sidecar again without leaving out optional dependencies.`)
  })

  test('of another system is explained', () => {
    const other = platforms.find(({ name }) => name !== platformPackage)!.name
    expect(startFrom(installed('', other).client)).toBe(`SidecarError sidecar_unusable The package ${platformPackage} is missing, and ${other} is there instead: node_modules was made for another system, so install it anew on this one.`)
  })

  test('that is gone from its package is explained', () => {
    const { client, sidecar } = installed()
    rmSync(sidecar)
    expect(startFrom(client)).toBe(`SidecarError sidecar_unusable There is no sidecar at ${sidecar}: install session-sidecar again, or name another program with the option "binary".`)
  })

  test.skipIf(onWindows)('that may not be executed is mended', () => {
    const { client, sidecar } = installed()
    chmodSync(sidecar, 0o644)
    expect(startFrom(client)).toMatch(/^pid \d+$/)
    expect(statSync(sidecar).mode & 0o777).toBe(0o755)
  })

  test.skipIf(process.platform !== 'linux' || process.getuid!() !== 0)('that may not be executed by somebody else is explained', () => {
    const { client, sidecar, app } = installed()
    chmodSync(sidecar, 0o644)
    execFileSync('chmod', ['-R', 'a+rX', app])
    const other = spawnSync('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, '--input-type=module', '-e', `import { start } from ${JSON.stringify(join(client, 'dist/index.js'))};${script}`], { encoding: 'utf8' })
    expect(other.stdout.trim()).toBe(`SidecarError sidecar_unusable The sidecar at ${sidecar} may not be executed, and that cannot be changed from here: make it executable (chmod 755) when you package the app.`)
  })

  test('inside app.asar is taken from beside it', () => {
    // To Node an archive is a folder here, as Electron makes it look like one; what was unpacked lies beside it.
    const { app, client, platform } = installed('app.asar')
    const unpacked = join(app, 'app.asar.unpacked/node_modules', platformPackage)
    mkdirSync(unpacked, { recursive: true })
    renameSync(join(platform, 'bin'), join(unpacked, 'bin'))
    expect(startFrom(client)).toMatch(/^pid \d+$/)
    rmSync(unpacked, { recursive: true })
    expect(startFrom(client)).toBe(`SidecarError sidecar_unusable The sidecar is inside app.asar, from which no program can start, and not beside it at ${join(unpacked, 'bin', name)}: add "**/node_modules/session-sidecar-*/**" to asarUnpack when you package the app.`)
  })

  test.skipIf(onWindows)('inside a Yarn archive is explained', () => {
    const { app, client, platform } = installed()
    const archive = join(app, '.yarn/cache', `${platformPackage}-npm-0.1.0-0123456789.zip`, 'node_modules', platformPackage)
    mkdirSync(join(archive, '..'), { recursive: true })
    renameSync(platform, archive)
    symlinkSync(archive, platform)
    expect(startFrom(client)).toBe(`SidecarError sidecar_unusable The sidecar lies inside a Yarn archive (${join(archive, 'bin', name)}), from which no program can start: set "dependenciesMeta": {"${platformPackage}": {"unplugged": true}} in package.json and run yarn install.`)
  })
})
