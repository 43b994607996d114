import { expect, test } from 'vitest'
import { errorOfAnswer, meaningOf, refusal } from '../../src/errors.ts'
import { reasons } from '../../src/methods.generated.ts'

test('an unexpected failure names its incident for the log', () => {
  const error = errorOfAnswer('trash.list', { code: -32603, message: 'unexpected failure', data: { incident: 'a1b2' } })
  expect(error).toMatchObject({ code: -32603, condition: undefined, reason: 'unexpected_failure', retryable: false, data: { incident: 'a1b2' } })
  expect(error.message).toBe('trash.list: unexpected failure (incident a1b2)')
  expect(error.sentence).toMatch(/unexpected went wrong/)
})

test('each reason has the meaning that the sidecar gives it', () => {
  for (const [reason, meaning] of Object.entries(reasons)) {
    expect(refusal({ ok: false, reason })).toMatchObject({ reason, ...meaning })
    expect(errorOfAnswer('x', { code: -32000, message: 'm', data: { condition: reason } })).toMatchObject({ condition: reason, reason, ...meaning })
  }
})

test('a word of a newer sidecar is passed on, and never retried', () => {
  for (const word of ['moon_phase', 'constructor', '__proto__']) {
    expect(refusal({ ok: false, reason: word, detail: 'the moon is wrong' })).toMatchObject({ reason: word, retryable: false, message: 'the moon is wrong', sentence: meaningOf('unexpected_failure').sentence })
  }
  expect(refusal({ ok: false })).toMatchObject({ reason: 'unexpected_failure' })
})
