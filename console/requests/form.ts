import { useState } from 'preact/hooks'
import { changedIn, type Edited, type Field, fieldsOf, readForm, textsOf } from './schema.ts'

/** The state of a form for a value of a JSON Schema. */
export interface Form {
  /** The prefix of the ids of its fields. */
  readonly id: string
  readonly fields: readonly Field[]
  readonly texts: ReadonlyMap<string, string>
  /** What is wrong, by the names of fields. What is wrong with the whole has the empty name. */
  readonly wrong: ReadonlyMap<string, string>
  /** The fields that differ from the edited value. */
  readonly changed: readonly Field[]
  set(name: string, text: string): void
  /** Reads the value. Undefined if something is wrong: then that is shown, and the first such field has the focus. */
  read(): { readonly value: unknown } | undefined
}

const NOTHING: ReadonlyMap<string, string> = new Map()

/** A form for a value, or for the changes of one. */
export function useForm(id: string, schema: unknown, title: string, edited?: Edited): Form {
  const [fields] = useState(() => fieldsOf(schema, title, edited))
  const [texts, setTexts] = useState(() => textsOf(fields))
  const [wrong, setWrong] = useState(NOTHING)
  return {
    ...{ id, fields, texts, wrong },
    changed: changedIn(fields, texts),
    set(name, text) {
      setTexts(before => new Map(before).set(name, text))
      setWrong(before => new Map([...before].filter(([other]) => other !== name && other !== '')))
    },
    read() {
      const read = readForm(fields, texts, schema)
      if ('value' in read) {
        setWrong(NOTHING)
        return read
      }
      setWrong(read.wrong)
      const first = fields.find(({ name }) => read.wrong.has(name))
      if (first) document.getElementById(idOf(id, first))?.focus()
      return undefined
    },
  }
}

/** The id of the element of a field. Attributes that name several ids part them by spaces, which names of fields may have. */
export function idOf(form: string, { name }: Field): string {
  return `${form}-${name}`.replace(/[^\w-]/g, sign => `_${sign.charCodeAt(0).toString(16)}_`)
}
