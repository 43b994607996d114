import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import listed from '../skips.json' with { type: 'json' }

/** The titles of the tests that may be skipped, from their sources: most of them run on this system, and are skipped on another. */
function skippable(): string[] {
  return ['..', '.'].flatMap((folder) => readdirSync(new URL(folder, import.meta.url)).filter((name) => name.endsWith('.test.ts')).flatMap((name) => {
    const source = readFileSync(new URL(`${folder}/${name}`, import.meta.url), 'utf8')
    const titles = [...source.matchAll(/^ *test\.skipIf\(.*?\)\('((?:[^'\\]|\\.)+)', /gm)].map(([, title]) => title!)
    expect(titles.length, name).toBe(source.split(/(?:test|describe|it)\.(?:skip|todo|runIf)/).length - 1) // nothing is skipped in another way
    return titles
  }))
}

test('the list of skipped tests has each of them, and no other', () => {
  expect(listed.map(({ test }) => test.split(' > ').at(-1)).sort()).toEqual(skippable().sort())
  for (const { on, reason } of listed) {
    expect(on.every((system) => ['linux', 'darwin', 'win32'].includes(system))).toBe(true)
    expect(reason).not.toBe('')
  }
})
