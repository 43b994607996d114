import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
// @ts-expect-error a script has no types
import { discover, generate } from '../../scripts/generate.mjs'
import { program } from '../support/world.ts'

test('the types are those of the sidecar that is built; else run `npm run generate`', () => {
  const kept = readFileSync(new URL('../../src/methods.generated.ts', import.meta.url), 'utf8').replaceAll('\r\n', '\n')
  expect(kept).toBe(generate(discover(program)))
})
