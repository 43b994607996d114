import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { into } from '../host/copies.js'
import { Host } from '../host/host.js'
import { readPage } from '../host/page.js'
import { settingsOf } from '../host/profiles.js'
import { serve } from './server.js'

// The app in a browser: `npm run web -- --home DIR`. It prints the address to open, and ends with Ctrl-C.

const settings = settingsOf(process.argv.slice(2), process.env, { strict: true }) // a slip in an option must not open another history
const copies = settings.copies ?? process.cwd()
mkdirSync(copies, { recursive: true })
const log = (line: string) => void process.stderr.write(`${line}\n`)
const host = new Host({ ...settings, where: into(copies), log })
const server = await serve(host, readPage(fileURLToPath(new URL('../page', import.meta.url))), log)
process.stdout.write(`${server.url}\n`)

const ended = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve())
})
await ended
// Together: the calls that the server still answers end with the sidecar.
await Promise.all([server.close(), host.close()])
