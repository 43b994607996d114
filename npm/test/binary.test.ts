import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { program, temporary } from './support/world.js'

const platformPackage = `session-sidecar-${process.platform}-${process.arch}`
const name = process.platform === 'win32' ? 'sidecar.exe' : 'sidecar'
const onWindows = process.platform === 'win32'

/** The client that is tested: what was built, or what is installed. */
const tested = dirname(createRequire(import.meta.url).resolve('session-sidecar/package.json'))

/** Makes node_modules of an app in which the client and a platform package lie as an installation leaves them. */
function installed(under = '', packageName = platformPackage) {
  const app = temporary(), modules = join(app, under, 'node_modules')
  const client = join(modules, 'session-sidecar'), platform = join(modules, packageName)
  mkdirSync(join(platform, 'bin'), { recursive: true })
  mkdirSync(client)
  cpSync(join(tested, 'dist'), join(client, 'dist'), { recursive: true })
  copyFileSync(join(tested, 'package.json'), join(client, 'package.json'))
  writeFileSync(join(platform, 'package.json'), JSON.stringify({ name: packageName, version: '0.0.0' }))
  copyFileSync(program, join(platform, 'bin', name))
  chmodSync(join(platform, 'bin', name), 0o755)
  return { app, client, platform, sidecar: join(platform, 'bin', name) }
}

const scriptWith = (binary?: string) => `start(${JSON.stringify({ binary })}).then(
  async (sidecar) => { console.log('pid', sidecar.pid); await sidecar.close() },
  (error) => console.log(error.name, error.reason, error.message))`

const script = scriptWith()

/** Starts a sidecar as an app would that has this client in its node_modules, and gives what came of it. */
function startFrom(client: string, kind: 'esm' | 'cjs' = 'esm', binary?: string, ...flags: string[]): string {
  const path = JSON.stringify(join(client, 'dist', kind === 'esm' ? 'index.js' : 'index.cjs'))
  const code = kind === 'esm' ? `import { start } from ${path};` : `const { start } = require(${path});`
  return execFileSync(process.execPath, [...flags, `--input-type=${kind === 'esm' ? 'module' : 'commonjs'}`, '-e', code + scriptWith(binary)], { encoding: 'utf8' }).trim()
}

/** The same where Node finds the platform package inside an archive, as Electron and Yarn let it: through the same hook as theirs. */
function startFromArchive({ app, client, platform }: ReturnType<typeof installed>, kind: 'esm' | 'cjs', inside: string): string {
  const hook = join(app, 'hook.cjs')
  writeFileSync(hook, `const Module = require('node:module'), resolve = Module._resolveFilename
    Module._resolveFilename = (...args) => args[0] === '${platformPackage}/package.json' ? ${JSON.stringify(join(inside, 'package.json'))} : resolve(...args)`)
  rmSync(join(platform, 'package.json')) // nothing else is found
  return startFrom(client, kind, undefined, '--require', hook)
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
    expect(startFrom(client)).toBe(`SidecarError sidecar_unusable The package ${platformPackage} is missing: install session-sidecar again without leaving out optional dependencies, or, where a bundler left it out, name the program with the option "binary".`)
  })

  test('of another system is explained', () => {
    const other = platformPackage === 'session-sidecar-linux-x64' ? 'session-sidecar-darwin-arm64' : 'session-sidecar-linux-x64'
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
    chmodSync(sidecar, 0o640)
    expect(startFrom(client)).toMatch(/^pid \d+$/)
    expect(statSync(sidecar).mode & 0o777).toBe(0o750)
  })

  test.skipIf(onWindows)('that is named and may not be executed is left alone and explained', () => {
    const { client, sidecar } = installed()
    chmodSync(sidecar, 0o644)
    expect(startFrom(client, 'esm', sidecar)).toBe(`SidecarError sidecar_unusable The program at ${sidecar}, which the option "binary" names, may not be executed: make it executable (chmod +x) where you ship it.`)
    expect(statSync(sidecar).mode & 0o777).toBe(0o644)
  })

  test('that is named is looked for from the working folder, and in folders of any name', () => {
    const { client, sidecar, app } = installed()
    const near = join(app, 'an.asar', 'a.zip', name)
    mkdirSync(join(near, '..'), { recursive: true })
    copyFileSync(sidecar, near)
    expect(startFrom(client, 'esm', near)).toMatch(/^pid \d+$/)
    expect(startFrom(client, 'esm', relative(process.cwd(), near))).toMatch(/^pid \d+$/)
    copyFileSync(sidecar, join(app, name))
    expect(execFileSync(process.execPath, ['-e', `const { start } = require(${JSON.stringify(join(client, 'dist/index.cjs'))});${scriptWith(name)}`], { cwd: app, encoding: 'utf8' })).toMatch(/^pid \d+\n$/)
  })

  test('is found by an app that a bundler made one file of', () => {
    const { app, client, sidecar } = installed()
    const esbuild = createRequire(createRequire(import.meta.url).resolve('vite'))('esbuild')
    for (const [file, binary] of [['found', undefined], ['named', sidecar]] as const) {
      const outfile = join(app, `${file}.cjs`)
      const contents = `import { start } from ${JSON.stringify(join(client, 'dist/index.js'))};${scriptWith(binary)}`
      esbuild.buildSync({ stdin: { contents, resolveDir: app }, outfile, bundle: true, platform: 'node', format: 'cjs', logLevel: 'error', logOverride: { 'empty-import-meta': 'silent' } })
      expect(execFileSync(process.execPath, [outfile], { encoding: 'utf8' })).toMatch(/^pid \d+\n$/)
    }
  })

  test.skipIf(process.platform !== 'linux' || process.getuid!() !== 0)('that may not be executed by somebody else is explained', () => {
    const { client, sidecar, app } = installed()
    chmodSync(sidecar, 0o644)
    execFileSync('chmod', ['-R', 'a+rX', app])
    const other = spawnSync('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, '--input-type=module', '-e', `import { start } from ${JSON.stringify(join(client, 'dist/index.js'))};${script}`], { encoding: 'utf8' })
    expect(other.stdout.trim()).toBe(`SidecarError sidecar_unusable The sidecar at ${sidecar} may not be executed, and that cannot be changed from here: make it executable (chmod 755) when you package the app.`)
  })

  test('inside app.asar is taken from beside it', () => {
    const made = installed(), { app, client, sidecar } = made
    const inside = join('node_modules', platformPackage, 'bin', name)
    const packed = join(app, 'app.asar', inside), unpacked = join(app, 'app.asar.unpacked', inside)
    writeFileSync(join(app, 'app.asar'), 'an archive')
    mkdirSync(join(unpacked, '..'), { recursive: true })
    renameSync(sidecar, unpacked)
    expect(startFrom(client, 'esm', packed)).toMatch(/^pid \d+$/)
    chmodSync(unpacked, 0o644) // which is mended where nobody named it
    expect(startFromArchive(made, 'esm', dirname(dirname(packed)))).toMatch(/^pid \d+$/)
    rmSync(unpacked)
    expect(startFrom(client, 'esm', packed)).toBe(`SidecarError sidecar_unusable The sidecar is inside app.asar, from which no program can start, and not beside it at ${unpacked}: add "**/node_modules/session-sidecar-*/**" to asarUnpack when you package the app.`)
  })

  test('inside a Yarn archive is explained', () => {
    const made = installed(), { app, client } = made
    const archive = join(app, `${platformPackage}-npm-0.1.0-0123456789.zip`), inside = join(archive, 'node_modules', platformPackage, 'bin', name)
    writeFileSync(archive, 'an archive')
    const explained = `SidecarError sidecar_unusable The sidecar lies inside a Yarn archive (${inside}), from which no program can start: set "dependenciesMeta": {"${platformPackage}": {"unplugged": true}} in package.json and run yarn install.`
    expect(startFrom(client, 'esm', inside)).toBe(explained)
    expect(startFromArchive(made, 'cjs', dirname(dirname(inside)))).toBe(explained)
  })
})
