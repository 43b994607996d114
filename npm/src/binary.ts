import { accessSync, chmodSync, constants, existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import platforms from '../platforms.json' with { type: 'json' }
import { SidecarError } from './errors.js'

const require = createRequire(import.meta.url)

/** Finds the program to start: the one that is named, or that of the platform package. What keeps it from starting is mended or
 * explained in one sentence. */
export function findBinary(named: string | undefined): string {
  const found = named ?? fromPlatformPackage()
  const path = outsideAsar(found)
  if (path.includes('.zip/') || path.includes('.zip\\')) {
    throw unusable(`The sidecar lies inside a Yarn archive (${path}), from which no program can start: set "dependenciesMeta": {"${platformPackage()}": {"unplugged": true}} in package.json and run yarn install.`)
  }
  if (!existsSync(path)) {
    throw unusable(path === found
      ? `There is no sidecar at ${path}: install session-sidecar again, or name another program with the option "binary".`
      : `The sidecar is inside app.asar, from which no program can start, and not beside it at ${path}: add "**/node_modules/session-sidecar-*/**" to asarUnpack when you package the app.`)
  }
  makeExecutable(path)
  return path
}

/** The name that the package for this system has, or would have. */
function platformPackage(): string {
  return `session-sidecar-${process.platform}-${process.arch}`
}

function fromPlatformPackage(): string {
  const wanted = platformPackage()
  const folder = packageFolder(wanted)
  if (folder !== undefined) return join(folder, 'bin', process.platform === 'win32' ? 'sidecar.exe' : 'sidecar')
  if (!platforms.some(({ name }) => name === wanted)) {
    throw unusable(`There is no sidecar for ${process.platform} on ${process.arch}: build one from source and name it with the option "binary".`)
  }
  const others = platforms.map(({ name }) => name).filter((name) => packageFolder(name) !== undefined)
  throw unusable(others.length > 0
    ? `The package ${wanted} is missing, and ${others.join(', ')} is there instead: node_modules was made for another system, so install it anew on this one.`
    : `The package ${wanted} is missing: install session-sidecar again without leaving out optional dependencies.`)
}

function packageFolder(name: string): string | undefined {
  try {
    return dirname(require.resolve(`${name}/package.json`))
  } catch {
    return undefined
  }
}

/** A path inside an Electron archive as the one that was unpacked beside it. */
function outsideAsar(path: string): string {
  return path.replace(/\.asar(?=[\\/])/g, '.asar.unpacked')
}

function makeExecutable(path: string): void {
  if (process.platform === 'win32') return
  try {
    accessSync(path, constants.X_OK)
  } catch {
    try {
      chmodSync(path, 0o755)
    } catch (cause) {
      throw unusable(`The sidecar at ${path} may not be executed, and that cannot be changed from here: make it executable (chmod 755) when you package the app.`, cause)
    }
  }
}

const unusable = (message: string, cause?: unknown) => new SidecarError('sidecar_unusable', message, { detail: message, cause })
