// TypeScript types for the JSON Schemas of a discovery document. The document writes every schema out where it is used; here a shape
// that comes again has a name, and is written once.

/** The shapes that have a name of their own: by the fields that each has, in their order. */
const named = [
  { name: 'Guard', fields: 'session_id kind holder expires_at', comment: 'What protects a session from being deleted: somebody is at work in it.' },
  { name: 'Remainder', fields: 'kind count why', comment: 'Something that a delete does not remove: how many of which kind, and why.' },
  { name: 'EraseReport', fields: 'pages kept_until indexes wal', comment: 'What of a deleted conversation can still be read in the files of the store.' },
  { name: 'PendingCleanup', fields: 'session_id cause', comment: 'A session of which a file could not be removed yet, and why.' },
  { name: 'CleanupReport', fields: 'complete pending unreadable', comment: 'What deletes have left to clean up in a home. It is tried again unasked.' },
  { name: 'PurgeProgress', fields: 'index steps', comment: 'How far the purge of a full-text index is.' },
]

/** With fewer fields an object is no shape that needs a name. */
const fewestFields = 2

export const comment = (text, indent) => (text ? `${indent}/** ${text.replaceAll('*/', '* /')} */\n${indent}` : '')

/** The types of a document. A shape that is also the whole of one of `wholes` has that one's name. */
export class SchemaTypes {
  #names = new Map() // by what makes a shape that shape
  #shapes = new Map()

  /**
   * Takes the schemas that have a name by what they are for, as {name, schema}, and all the others. It fails where a shape stands in
   * several places and has no name, and where a name has no shape.
   */
  constructor(wholes, others) {
    for (const whole of wholes) {
      if (fieldsOf(whole.schema).length >= fewestFields && !this.#names.has(keyOf(whole.schema))) this.#names.set(keyOf(whole.schema), whole)
    }
    for (const schema of [...wholes.map(({ schema }) => schema), ...others]) this.#gather(schema)
    for (const { name, fields, comment } of named) {
      const found = [...this.#shapes.values()].filter(({ schema }) => fieldsOf(schema).join(' ') === fields)
      if (found.length !== 1) throw new Error(`${found.length} shapes have the fields of ${name} (${fields}): see npm/scripts/schema-types.mjs`)
      this.#names.set(keyOf(found[0].schema), { name, comment, schema: found[0].schema })
    }
    for (const [key, { schema, places }] of this.#shapes) {
      if (places > 1 && !this.#names.has(key)) throw new Error(`the shape ${fieldsOf(schema).join(' ')} stands in ${places} places and needs a name: see npm/scripts/schema-types.mjs`)
    }
  }

  /** The definitions of the shapes that several others use. */
  shared() {
    return [...this.#names.values()].filter(({ comment }) => comment !== undefined)
      .map(({ name, schema, comment: text }) => `${comment(text, '')}export type ${name} = ${this.whole(name, schema)}`)
  }

  /** The definition of a type: its own fields, or the name of an equal one. */
  whole(name, schema) {
    const known = this.#names.get(keyOf(schema))
    return known && known.name !== name ? known.name : this.#write(schema, '', name)
  }

  /** A schema where it is used. */
  use(schema, indent) {
    return this.#names.get(keyOf(schema))?.name ?? this.#write(schema, indent)
  }

  #gather(schema) {
    if (schema.items) return this.#gather(schema.items)
    if (!schema.properties) return schema.additionalProperties && this.#gather(schema.additionalProperties)
    const key = keyOf(schema), known = this.#shapes.get(key)
    if (known) return void known.places++
    if (fieldsOf(schema).length >= fewestFields) this.#shapes.set(key, { schema, places: 1 })
    for (const name of this.#ownFields(schema)) this.#gather(schema.properties[name])
  }

  /** The largest of the named shapes whose fields an object has all of, and more. */
  #baseOf(schema) {
    return [...this.#names.values()].filter((one) => extendsShape(schema, one.schema))
      .sort((a, b) => fieldsOf(b.schema).length - fieldsOf(a.schema).length)[0]
  }

  #ownFields(schema) {
    const base = this.#baseOf(schema)
    return fieldsOf(schema).filter((name) => !base || !(name in base.schema.properties))
  }

  /** A JSON Schema of the few forms that the sidecar uses, as a type. One of another form is a mistake here, not `unknown`. */
  #write(schema, indent) {
    if (schema.type === undefined) {
      // A flag counts only where it is literally true, and takes anything for the sake of older hosts.
      return schema.description?.startsWith('true: ') ? 'boolean' : 'unknown'
    }
    const rank = (type) => (type === 'null' ? 1 : 0)
    return [schema.type].flat().sort((a, b) => rank(a) - rank(b)).map((type) => this.#single({ ...schema, type }, indent)).join(' | ')
  }

  #single(schema, indent) {
    switch (schema.type) {
      case 'string':
        return schema.enum?.map((word) => `'${word}'`).join(' | ') ?? 'string'
      case 'boolean': case 'null': case 'number':
        return schema.type
      case 'integer':
        return 'number'
      case 'array': {
        const item = this.use(schema.items, indent)
        return / [|&] /.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`
      }
      case 'object':
        return this.#object(schema, indent)
    }
    throw new Error(`no type for the schema ${JSON.stringify(schema)}`)
  }

  #object(schema, indent) {
    const { properties, required = [], additionalProperties } = schema
    if (properties === undefined) {
      if (additionalProperties === false) return 'Record<string, never>'
      return `Record<string, ${additionalProperties ? this.use(additionalProperties, indent) : 'unknown'}>`
    }
    const inner = `${indent}  `
    const fields = this.#ownFields(schema).map((name) => {
      const optional = required.includes(name) ? '' : '?'
      return `${comment(properties[name].description, inner) || inner}${name}${optional}: ${this.use(properties[name], inner)}\n`
    })
    const base = this.#baseOf(schema)
    return `${base ? `${base.name} & ` : ''}{\n${fields.join('')}${indent}}`
  }
}

const fieldsOf = (schema) => Object.keys(schema.properties ?? {})

/** What makes a shape that shape: its fields and what is said of them. What else an object may hold makes no other type of it. */
const keyOf = ({ type, properties, required, items, ...more }) =>
  JSON.stringify(properties ? [type, properties, required] : [type, items, more])

const extendsShape = (schema, base) => fieldsOf(schema).length > fieldsOf(base).length && fieldsOf(base).every((name) =>
  JSON.stringify(schema.properties?.[name]) === JSON.stringify(base.properties[name])
  && (schema.required ?? []).includes(name) === (base.required ?? []).includes(name))
