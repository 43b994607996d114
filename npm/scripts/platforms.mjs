// What the scripts beside this one know of the packages: their table, their version, and where things are made.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))
export const npm = join(root, 'npm')
export const build = join(root, 'build', 'npm')

export const readJSON = (path) => JSON.parse(readFileSync(path, 'utf8'))

export const platforms = readJSON(join(npm, 'platforms.json'))

/** The version of every package is that of the program: the top heading of the changelog, as in the Makefile. */
export const version = /^## ([0-9]\S*)/m.exec(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))[1]

/** Where the program for a platform lies once it is built. */
export const programOf = (platform) => join(build, 'programs', platform.name, platform.binary)

/** Where the licences of what is in that program lie, and what their file is called in the package. */
export const noticesOf = (platform) => join(build, 'programs', platform.name, notices)
export const notices = 'THIRD-PARTY.txt'

/** Where a packed package lies. */
export const tarballOf = (name) => join(build, `${name}-${version}.tgz`)

/** The platforms whose program is there. */
export const built = () => platforms.filter((platform) => existsSync(programOf(platform)))

/** Finds the platforms that the command line names, as linux-x64 or by their whole names. */
export function named(names) {
  return names.map((name) => {
    const found = platforms.find((platform) => [platform.name, `${platform.os}-${platform.cpu}`].includes(name))
    if (!found) fail(`there is no platform ${name}: see npm/platforms.json`)
    return found
  })
}

/** Runs a program to its end with our own output, and ends with it if it fails. npm and npx are scripts on Windows, which only a
 * shell starts. */
export function run(command, args, options = {}) {
  const shell = process.platform === 'win32' && ['npm', 'npx'].includes(command)
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', shell, ...options })
  if (status !== 0) fail(`${command} ${args[0]}: ${error?.message ?? `exit status ${status}`}`)
}

/** Tells whether a command is there. */
export function has(command) {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

export function fail(sentence) {
  console.error(sentence)
  process.exit(1)
}
