import { PlainReporter } from '../../../../test/support/reporter.js'

export default class extends PlainReporter {
  constructor() {
    super('example', new URL('../skips.json', import.meta.url))
  }
}
