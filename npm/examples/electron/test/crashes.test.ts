import { expect, test } from 'vitest'
import { Crashes } from '../src/electron/crashes.js'

test('a page that crashes is loaded anew once, and the user is told when it crashes again soon', () => {
  const crashes = new Crashes()
  expect([0, 1_000, 2_000].map((now) => crashes.next(now))).toEqual(['reload', 'tell', 'tell'])
  expect([61_999, 121_999].map((now) => crashes.next(now))).toEqual(['tell', 'reload'])
})
