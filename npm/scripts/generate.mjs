// Writes src/methods.generated.ts from the sidecar's own description of its methods:
//
//   node scripts/generate.mjs [program]
//
// A test fails when what is checked in differs from what this would write.
import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { comment, SchemaTypes } from './schema-types.mjs'

/** Asks a sidecar for its discovery document. */
export function discover(program) {
  return JSON.parse(execFileSync(program, ['call', 'rpc.discover'], { encoding: 'utf8', maxBuffer: 64 << 20 }))
}

/** The text of src/methods.generated.ts for a discovery document. */
export function generate(document) {
  const methods = document.methods.map((method) => {
    const [group, short] = method.name.split('.')
    return { ...method, group, short, type: pascal(method.name), params: method['x-params-schema'], streams: method['x-streams'] }
  })
  const notifications = document['x-notifications'].map((one) => ({ ...one, type: pascal(one.name) }))
  const groups = [...new Set(methods.map(({ group }) => group))]
  const types = new SchemaTypes([
    ...methods.flatMap(({ type, params, result }) => [{ name: `${type}Params`, schema: params }, { name: `${type}Result`, schema: result.schema }]),
    ...notifications.map(({ type, params }) => ({ name: type, schema: params })),
  ], methods.flatMap(({ streams }) => streams.map(({ schema }) => schema)))

  const parts = [
    '// Made by scripts/generate.mjs from rpc.discover. Do not edit: run `npm run generate`.',
    "import type { Call, CallOptions, Progress } from './types.js'",
    ...types.shared(),
  ]
  for (const { name, type, params, result, streams } of methods) {
    parts.push(`/** What \`${name}\` takes. */\nexport type ${type}Params = ${types.whole(`${type}Params`, params)}`)
    parts.push(`/** What \`${name}\` answers. */\nexport type ${type}Result = ${types.whole(`${type}Result`, result.schema)}`)
    if (streams.length > 0) {
      parts.push(`/** What \`${name}\` may report on its way. */\nexport type ${type}Events =${streams.map((event) => eventOf(event, types)).join('')}`)
    }
  }
  for (const { type, summary, params } of notifications) {
    parts.push(`${comment(summary, '')}export type ${type} = ${types.whole(type, params)}`)
  }
  parts.push(block('/** Every method: what it takes, what it answers, and the events that it may report on its way. */\nexport interface Methods', methods.map(
    (method) => `'${method.name}': { params: ${method.type}Params; result: ${method.type}Result; events: ${eventsOf(method)} }`,
  )))
  for (const group of groups) {
    parts.push(block(`/** The methods \`${group}.*\`. */\nexport interface ${pascal(group)}Methods`, methods.filter((method) => method.group === group).map((method) => {
      const params = method.params.required?.length ? 'params' : 'params?'
      const events = eventsOf(method)
      return `${comment(method.summary, '  ')}${method.short}(${params}: ${method.type}Params, options?: CallOptions<${events}>): Call<${method.type}Result, Progress<${events}>>`
    })))
  }
  parts.push(block('/** The methods, by the first part of their names. */\nexport interface MethodGroups', groups.map(
    (group) => `readonly ${group}: ${pascal(group)}Methods`,
  )))
  parts.push(block('/** What the sidecar tells unasked. */\nexport interface Notifications', notifications.map(({ name, type }) => `'${name}': ${type}`)))
  parts.push(`/** The names of all methods. */\nexport const methodNames = [\n${methods.map(({ name }) => `  '${name}',\n`).join('')}] as const satisfies readonly (keyof Methods)[]`)
  parts.push('/** For each reason whether asking again may help, and what to tell the user. */\nexport const reasons = {\n'
    + Object.entries(document['x-reasons']).map(
      ([reason, { retryable, sentence }]) => `  ${reason}: { retryable: ${retryable}, sentence: ${JSON.stringify(sentence)} },\n`,
    ).join('') + '} as const')
  return parts.join('\n\n') + '\n'
}

const block = (head, lines) => `${head} {\n${lines.map((line) => (line.startsWith('  ') ? line : `  ${line}`) + '\n').join('')}}`

const eventsOf = ({ type, streams }) => (streams.length > 0 ? `${type}Events` : 'never')

const eventOf = ({ name, description, schema }, types) =>
  `\n  | {\n${comment(description, '    ')}event: '${name}'\n    data: ${types.use(schema, '    ')}\n  }`

const pascal = (name) => name.split(/[._]/).map((word) => word[0].toUpperCase() + word.slice(1)).join('')

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const program = process.argv[2] ?? fileURLToPath(new URL(`../../build/sidecar${process.platform === 'win32' ? '.exe' : ''}`, import.meta.url))
  if (!existsSync(program)) throw new Error(`there is no ${program} to ask: \`make update\` builds it and calls this`)
  writeFileSync(new URL('../src/methods.generated.ts', import.meta.url), generate(discover(program)))
}
