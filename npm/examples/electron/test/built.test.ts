import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const dist = (path: string) => fileURLToPath(new URL(`../dist/${path}`, import.meta.url))

test('the preload script is one file that needs nothing but Electron, as a sandboxed one has to be', () => {
  const code = readFileSync(dist('host/preload.cjs'), 'utf8')
  expect([...code.matchAll(/\brequire\(([^)]*)\)/g)].map(([, name]) => name)).toEqual(['"electron"'])
  expect(code).not.toMatch(/^\s*(import|export)\b|\bimport\(/m)
})

test('the page has nothing inline, and names nothing but its own files', () => {
  const html = readFileSync(dist('page/index.html'), 'utf8')
  expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:|https?:/)
  for (const script of html.matchAll(/<script([^>]*)>([^<]*)</g)) expect(script.slice(1)).toEqual([expect.stringContaining('src="./'), ''])
  for (const name of readdirSync(dist('page'), { recursive: true, encoding: 'utf8' }).filter((name) => /\.(js|css)$/.test(name))) {
    const addresses = readFileSync(dist(`page/${name}`), 'utf8').match(/\bhttps?:\/\/[\w.-]+/g) ?? []
    expect(addresses.filter((address) => !/^http:\/\/www\.w3\.org$/.test(address)), name).toEqual([])
  }
})
