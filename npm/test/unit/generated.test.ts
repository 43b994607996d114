import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
// @ts-expect-error a script has no types
import { discover, generate } from '../../scripts/generate.mjs'
import { program } from '../support/world.ts'

test('the types are those of the sidecar that is built; else run `npm run generate`', () => {
  const kept = readFileSync(new URL('../../src/methods.generated.ts', import.meta.url), 'utf8').replaceAll('\r\n', '\n')
  expect(kept).toBe(generate(discover(program)))
})

test('a shape that stands in several places is written once, by a name', () => {
  const document = discover(program)
  const bodies = [...generate(document).matchAll(/\{\n([^{}]*)\}/g)].map(([, body]) => body.replace(/^ +/gm, ''))
  const several = bodies.filter((body) => body.match(/^\w+\??:/gm)?.length > 1 && !/^event: /m.test(body)) // an event names its data
  expect(several.length).toBeGreaterThan(20)
  expect(several.filter((body, i) => several.indexOf(body) !== i)).toEqual([])

  const shape = { type: 'object', properties: { x: { type: 'integer' }, y: { type: 'integer' } } }
  Object.assign(document.methods[0].result.schema.properties, { one: shape, other: shape })
  expect(() => generate(document)).toThrow('the shape x y stands in 2 places and needs a name')
})
