// Writes src/methods.generated.ts from the sidecar's own description of its methods:
//
//   node scripts/generate.mjs [program]
//
// A test fails when what is checked in differs from what this would write.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Asks a sidecar for its discovery document. */
export function discover(program) {
  return JSON.parse(execFileSync(program, ['call', 'rpc.discover'], { encoding: 'utf8', maxBuffer: 64 << 20 }))
}

/** The text of src/methods.generated.ts for a discovery document. */
export function generate(document) {
  const parts = [
    '// Made by scripts/generate.mjs from rpc.discover. Do not edit: run `npm run generate`.',
    "import type { Call, CallOptions, Progress } from './types.js'",
  ]
  const groups = new Map()
  for (const method of document.methods) {
    const [group, name] = method.name.split('.')
    groups.set(group, [...(groups.get(group) ?? []), { ...method, short: name, type: pascal(method.name) }])
  }
  for (const methods of groups.values()) {
    for (const { name, type, ...method } of methods) {
      parts.push(`/** What \`${name}\` takes. */\nexport type ${type}Params = ${typeOf(method['x-params-schema'], '')}`)
      parts.push(`/** What \`${name}\` answers. */\nexport type ${type}Result = ${typeOf(method.result.schema, '')}`)
      if (method['x-streams'].length > 0) {
        parts.push(`/** What \`${name}\` may report on its way. */\nexport type ${type}Events =${method['x-streams'].map(eventOf).join('')}`)
      }
    }
  }
  for (const notification of document['x-notifications']) {
    parts.push(`${comment(notification.summary, '')}export type ${pascal(notification.name)} = ${typeOf(notification.params, '')}`)
  }
  parts.push(block('/** Every method: what it takes, what it answers, and the events that it may report on its way. */\nexport interface Methods', [...groups.values()].flat().map(
    ({ name, type, ...method }) => `'${name}': { params: ${type}Params; result: ${type}Result; events: ${eventsOf(type, method)} }`,
  )))
  for (const [group, methods] of groups) {
    parts.push(block(`export interface ${pascal(group)}Methods`, methods.map((method) => {
      const params = method['x-params-schema'].required?.length ? 'params' : 'params?'
      const events = eventsOf(method.type, method)
      return `${comment(method.summary, '  ')}${method.short}(${params}: ${method.type}Params, options?: CallOptions<${events}>): Call<${method.type}Result, Progress<${events}>>`
    })))
  }
  parts.push(block('/** The methods, by the first part of their names. */\nexport interface MethodGroups', [...groups.keys()].map(
    (group) => `readonly ${group}: ${pascal(group)}Methods`,
  )))
  parts.push(block('/** What the sidecar tells unasked. */\nexport interface Notifications', document['x-notifications'].map(
    ({ name }) => `'${name}': ${pascal(name)}`,
  )))
  parts.push(`export const methodNames = [\n${document.methods.map(({ name }) => `  '${name}',\n`).join('')}] as const satisfies readonly (keyof Methods)[]`)
  parts.push('/** For each reason whether asking again may help, and what to tell the user. */\nexport const reasons = {\n'
    + Object.entries(document['x-reasons']).map(
      ([reason, { retryable, sentence }]) => `  ${reason}: { retryable: ${retryable}, sentence: ${JSON.stringify(sentence)} },\n`,
    ).join('') + '} as const')
  return parts.join('\n\n') + '\n'
}

const block = (head, lines) => `${head} {\n${lines.map((line) => (line.startsWith('  ') ? line : `  ${line}`) + '\n').join('')}}`

const comment = (text, indent) => (text ? `${indent}/** ${text.replaceAll('*/', '* /')} */\n${indent}` : '')

const eventsOf = (type, method) => (method['x-streams'].length > 0 ? `${type}Events` : 'never')

const eventOf = ({ name, description, schema }) =>
  `\n  | {\n${comment(description, '    ')}event: '${name}'\n    data: ${typeOf(schema, '    ')}\n  }`

const pascal = (name) => name.split(/[._]/).map((word) => word[0].toUpperCase() + word.slice(1)).join('')

/** A JSON Schema of the few forms that the sidecar uses, as a type. One of another form is a mistake here, not `unknown`. */
function typeOf(schema, indent) {
  if (schema.type === undefined) {
    // A flag counts only where it is literally true, and takes anything for the sake of older hosts.
    return schema.description?.startsWith('true: ') ? 'boolean' : 'unknown'
  }
  const types = [schema.type].flat()
  const rank = (type) => (type === 'null' ? 1 : 0)
  return types.sort((a, b) => rank(a) - rank(b)).map((type) => single({ ...schema, type }, indent)).join(' | ')
}

function single(schema, indent) {
  switch (schema.type) {
    case 'string':
      return schema.enum?.map((word) => `'${word}'`).join(' | ') ?? 'string'
    case 'boolean': case 'null': case 'number':
      return schema.type
    case 'integer':
      return 'number'
    case 'array': {
      const item = typeOf(schema.items, indent)
      return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`
    }
    case 'object':
      return objectOf(schema, indent)
  }
  throw new Error(`no type for the schema ${JSON.stringify(schema)}`)
}

function objectOf({ properties, required = [], additionalProperties }, indent) {
  if (properties === undefined) {
    if (additionalProperties === false) return 'Record<string, never>'
    return `Record<string, ${additionalProperties ? typeOf(additionalProperties, indent) : 'unknown'}>`
  }
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(([name, schema]) =>
    `${comment(schema.description, inner) || inner}${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema, inner)}\n`)
  return `{\n${fields.join('')}${indent}}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const program = process.argv[2] ?? fileURLToPath(new URL(`../../build/sidecar${process.platform === 'win32' ? '.exe' : ''}`, import.meta.url))
  writeFileSync(new URL('../src/methods.generated.ts', import.meta.url), generate(discover(program)))
}
