import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { invalid } from './check.js'

/** Asks where a copy goes. Undefined: the user chose nothing. */
export type Where = (suggestedName: string) => Promise<string | undefined>

/** A folder of its own for copies, for a host that cannot ask: each gets a new name in it. */
export function into(folder: string): Where {
  return async (suggestedName) => {
    const stem = suggestedName.replace(/\.json$/, '')
    for (let i = 1; ; i++) {
      const path = join(folder, i === 1 ? suggestedName : `${stem} (${i}).json`)
      if (!existsSync(path)) return path
    }
  }
}

/**
 * A name that every file system takes, made of what the page suggests. Nothing of it can lead to another folder, be a device of Windows,
 * or hide what kind of file it is, as the signs do that turn the direction of writing.
 */
export function fileName(suggested: string): string {
  const plain = suggested
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '')
    .replace(/[\\/:*?"<>|]/g, '-')
    .replace(/\.json$/i, '')
    .replace(/\s+/g, ' ')
  const short = [...plain].slice(0, 60).join('').replace(/^[. ]+|[. ]+$/g, '')
  const device = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(short)
  return `${device || short === '' ? `conversation ${short}`.trim() : short}.json`
}

/**
 * Has a copy written to where the user wants it. The sidecar never overwrites a file; where the user has agreed to that, the copy is
 * written beside it first, so that there is the old one or the new one and never half of one.
 */
export async function writeCopy<T>(path: string, write: (to: string) => Promise<T>): Promise<T> {
  const there = await stat(path).catch(() => undefined)
  if (there === undefined) return write(path)
  if (!there.isFile() || !path.endsWith('.json')) throw invalid('what is there is no copy')
  const beside = `${path}.${randomBytes(6).toString('hex')}.new`
  try {
    const result = await write(beside)
    await rename(beside, path)
    return result
  } catch (error) {
    await rm(beside, { force: true })
    throw error
  }
}
