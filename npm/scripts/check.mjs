// Looks at the packed packages as publint does, and at the types of the client as arethetypeswrong does. Both come from the
// client's devDependencies, and neither asks a registry.
import { existsSync } from 'node:fs'
import { built, npm, readJSON, run, tarballOf } from './platforms.mjs'
import { join } from 'node:path'

const client = readJSON(join(npm, 'package.json')).name
const tool = (...args) => run('npx', ['--no-install', ...args], { cwd: npm })

for (const name of [client, ...built().map((platform) => platform.name)]) {
  if (!existsSync(tarballOf(name))) throw new Error(`${tarballOf(name)} is not there: run pack.mjs`)
  tool('publint', 'run', '--strict', tarballOf(name))
}
tool('attw', '--no-definitely-typed', tarballOf(client))
