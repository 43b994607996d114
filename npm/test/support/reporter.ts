import { readFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

/** A test, or a group of them, that may be skipped: on these systems, unless the variable `unless` is set. */
type Listed = { test: string; on: string[]; unless?: string; reason: string }

/** Ends a run with one plain line, and fails it where a test was skipped that the list in `skips` does not allow, or where none ran. */
export class PlainReporter implements Reporter {
  readonly #suite: string
  readonly #skips: URL

  constructor(suite: string, skips: URL) {
    this.#suite = suite
    this.#skips = skips
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const listed = JSON.parse(readFileSync(this.#skips, 'utf8')) as Listed[]
    const allowed = (name: string) => listed.some(({ test, on, unless, reason }) => reason !== '' && on.includes(process.platform)
      && (name === test || name.startsWith(`${test} > `)) && (unless === undefined || !process.env[unless]))
    const counts = { passed: 0, failed: errors.length, skipped: 0 }
    for (const module of modules) {
      if (module.state() === 'failed' && module.errors().length > 0) counts.failed++
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'pending') continue
        counts[state]++
        if (state === 'skipped' && !allowed(test.fullName)) {
          console.error(`"${test.fullName}" was skipped, and test/skips.json does not allow it here`)
          counts.failed++
        }
      }
    }
    if (counts.passed === 0) console.error('no test passed')
    if (counts.failed > 0 || counts.passed === 0) process.exitCode = 1
    console.log(`\n${this.#suite}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
  }
}

export default class extends PlainReporter {
  constructor() {
    super('client', new URL('../skips.json', import.meta.url))
  }
}
