import { accessSync, chmodSync, constants, existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import platforms from '../platforms.json' with { type: 'json' }
import { SidecarError } from './errors.js'

/**
 * Finds the program to start: the one that is named, or that of the platform package. What keeps it from starting is mended, or is a
 * SidecarError that explains it in one sentence.
 */
export function findBinary(named: string | undefined): string {
  const found = named === undefined ? fromPlatformPackage() : resolve(named)
  const path = outsideAsar(found)
  if (archives(path, '.zip').length > 0) {
    throw unusable(`The sidecar lies inside a Yarn archive (${path}), from which no program can start: set "dependenciesMeta": {"${platformPackage()}": {"unplugged": true}} in package.json and run yarn install.`)
  }
  if (!existsSync(path)) {
    throw unusable(path === found
      ? `There is no sidecar at ${path}: install session-sidecar again, or name another program with the option "binary".`
      : `The sidecar is inside app.asar, from which no program can start, and not beside it at ${path}: add "**/node_modules/session-sidecar-*/**" to asarUnpack when you package the app.`)
  }
  if (!isExecutable(path)) {
    if (named === undefined) makeExecutable(path)
    else throw unusable(`The program at ${path}, which the option "binary" names, may not be executed: make it executable (chmod +x) where you ship it.`)
  }
  return path
}

/** The name that the package for this system has, or would have. */
function platformPackage(): string {
  return `session-sidecar-${process.platform}-${process.arch}`
}

function fromPlatformPackage(): string {
  const wanted = platformPackage()
  const platform = platforms.find(({ name }) => name === wanted)
  if (platform === undefined) {
    throw unusable(`There is no sidecar for ${process.platform} on ${process.arch}: build one from source and name it with the option "binary".`)
  }
  const folder = packageFolder(wanted)
  if (folder !== undefined) return join(folder, platform.binary)
  const others = platforms.map(({ name }) => name).filter((name) => packageFolder(name) !== undefined)
  throw unusable(others.length > 0
    ? `The package ${wanted} is missing, and ${others.join(', ')} is there instead: node_modules was made for another system, so install it anew on this one.`
    : `The package ${wanted} is missing: install session-sidecar again without leaving out optional dependencies, or, where a bundler left it out, name the program with the option "binary".`)
}

function packageFolder(name: string): string | undefined {
  try {
    return dirname(createRequire(thisFile()).resolve(`${name}/package.json`))
  } catch {
    return undefined
  }
}

/** Where this code lies. A bundler that makes CommonJS of it leaves `import.meta` empty. */
function thisFile(): string {
  return import.meta.url ?? __filename
}

/** A path inside an Electron archive as the one that was unpacked beside it. */
function outsideAsar(path: string): string {
  return archives(path, '.asar').reduceRight((text, end) => `${text.slice(0, end)}.unpacked${text.slice(end)}`, path)
}

/** Where in a path the names of archives with such an ending are over. A folder may be called so as well: it is none. */
function archives(path: string, ending: string): number[] {
  return [...path.matchAll(/[\\/]/g)].map(({ index }) => index!).filter((end) => path.endsWith(ending, end) && isFile(path.slice(0, end)))
}

/** Whether there is a file, in the eyes of the system: Electron shows an archive as a folder, unless it is told not to. */
function isFile(path: string): boolean {
  const electron = process as { noAsar?: boolean }
  const before = electron.noAsar
  electron.noAsar = true
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
  } catch {
    return false
  } finally {
    electron.noAsar = before
  }
}

function isExecutable(path: string): boolean {
  if (process.platform === 'win32') return true
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Gives back a lost exec bit to all who may read the file, and to nobody else. */
function makeExecutable(path: string): void {
  try {
    const { mode } = statSync(path)
    chmodSync(path, mode & 0o7777 | (mode & 0o444) >> 2)
    accessSync(path, constants.X_OK)
  } catch (cause) {
    throw unusable(`The sidecar at ${path} may not be executed, and that cannot be changed from here: make it executable (chmod 755) when you package the app.`, cause)
  }
}

const unusable = (message: string, cause?: unknown) => new SidecarError('sidecar_unusable', message, { detail: message, cause })
