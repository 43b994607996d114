import { readFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

type Listed = { test: string; on: string[]; reason: string }

/** Ends a run with one plain line, and fails it where a test was skipped that test/skips.json does not name for this system, or where none ran. */
export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const listed: Listed[] = JSON.parse(readFileSync(new URL('../skips.json', import.meta.url), 'utf8'))
    const counts = { passed: 0, failed: errors.length, skipped: 0 }
    for (const module of modules) {
      if (module.state() === 'failed' && module.errors().length > 0) counts.failed++
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'pending') continue
        counts[state]++
        if (state === 'skipped' && !listed.some((entry) => entry.test === test.fullName && entry.on.includes(process.platform) && entry.reason !== '')) {
          console.error(`"${test.fullName}" was skipped and is not in test/skips.json for ${process.platform}`)
          counts.failed++
        }
      }
    }
    if (counts.passed === 0) console.error('no test passed')
    if (counts.failed > 0 || counts.passed === 0) process.exitCode = 1
    console.log(`\nclient: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
  }
}
