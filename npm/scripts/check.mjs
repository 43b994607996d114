// Looks at the packed packages: at what is in them, at the packages as publint does, and at the types of the client as
// arethetypeswrong does. Both come from the client's devDependencies, and neither asks a registry.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build, built, fail, notices, npm, platforms, programOf, readJSON, run, tarballOf, version } from './platforms.mjs'

const client = readJSON(join(npm, 'package.json')).name
const tool = (...args) => run('npx', ['--no-install', ...args], { cwd: npm })

for (const platform of built()) {
  look(platform.name, [platform.binary, notices], ({ os, cpu, preferUnplugged }, folder) => {
    assert.deepEqual({ os, cpu, preferUnplugged }, { os: [platform.os], cpu: [platform.cpu], preferUnplugged: true })
    assert.match(readFileSync(join(folder, notices), 'utf8'), /mattn\/go-sqlite3 v\d[^]*Permission is hereby granted/, 'it lacks the licences of what is in its program')
    const program = join(folder, platform.binary)
    assert(readFileSync(program).equals(readFileSync(programOf(platform))), 'it holds another program than the one that is built')
    if (process.platform !== 'win32') assert.equal(statSync(program).mode & 0o777, 0o755, 'its program may not be executed')
  })
}
look(client, ['index.cjs', 'index.d.cts', 'index.d.ts', 'index.js'].map((name) => `dist/${name}`), ({ optionalDependencies }) => {
  assert.deepEqual(optionalDependencies, Object.fromEntries(platforms.map(({ name }) => [name, version])))
})
tool('attw', '--no-definitely-typed', tarballOf(client))

/** Unpacks a package and looks at it: it holds what it is for and nothing else, runs no script when it is installed, and needs no
 * other package but a platform's. */
function look(name, files, more) {
  const tarball = tarballOf(name), folder = join(build, 'packed', name)
  if (!existsSync(tarball)) fail(`${tarball} is not there: run pack.mjs`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  // Named from where they are: some tar take what precedes a colon, as in C:\, for a host.
  run('tar', ['-xzf', basename(tarball), '-C', `packed/${name}`, '--strip-components=1'], { cwd: build })
  try {
    const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory())
      .map(({ parentPath, path, name: file }) => join(parentPath ?? path, file).slice(folder.length + 1).replaceAll('\\', '/'))
    assert.deepEqual(found.sort(), ['LICENSE', 'README.md', 'package.json', ...files].sort())
    const description = readJSON(join(folder, 'package.json'))
    assert.equal(description.name, name)
    assert.equal(description.version, version)
    for (const key of ['scripts', 'dependencies', 'devDependencies', 'peerDependencies', 'bundleDependencies', 'private', 'gypfile']) {
      assert(!(key in description), `it has "${key}"`)
    }
    more(description, folder)
  } catch (error) {
    fail(`${name}: ${error.message}`)
  }
  tool('publint', 'run', '--strict', tarball)
}
