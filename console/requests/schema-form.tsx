import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Notice } from '../parts/notice.tsx'
import { messageOf } from '../service.ts'
import { visible } from '../text.ts'
import { type Field, fieldsOf, formValue } from './schema.ts'

/** A form for a value of a JSON Schema. */
export function SchemaForm({
  schema,
  title = 'Answer',
  id,
  action,
  isBusy,
  take,
  children,
}: {
  schema: unknown
  /** The label of a value that is not an object, and has no title of its own. */
  title?: string
  /** The prefix of the ids of its fields. */
  id: string
  /** The text of the button. */
  action: string
  isBusy: boolean
  take: (value: unknown) => void
  /** Content before the fields. */
  children?: ComponentChildren
}) {
  const fields = fieldsOf(schema, title)
  const [wrong, setWrong] = useState<string>()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const { elements } = event.currentTarget as HTMLFormElement
    const read = ({ name, kind }: Field) => {
      const input = elements.namedItem(`field-${name}`) as HTMLInputElement
      return kind === 'boolean' ? String(input.checked) : input.value
    }
    try {
      const value = formValue(fields, read)
      setWrong(undefined)
      take(value)
    } catch (error) {
      setWrong(messageOf(error))
    }
  }
  return (
    <form onSubmit={submit}>
      {children}
      {fields.map(field => (
        <div key={field.name} class={field.kind === 'boolean' ? 'check' : undefined}>
          <label for={`${id}-${field.name}`}>
            {visible(field.label)}
            {field.kind === 'json' && ' as JSON'}
          </label>
          <Input field={field} id={`${id}-${field.name}`} />
        </div>
      ))}
      {wrong !== undefined && <Notice kind="error">{wrong}</Notice>}
      <p class="actions">
        <button type="submit" class="main" disabled={isBusy}>
          {action}
        </button>
      </p>
    </form>
  )
}

function Input({ field: { name, kind, choices, isRequired }, id }: { field: Field; id: string }) {
  const all = { id, name: `field-${name}`, required: isRequired }
  if (kind === 'json') return <textarea {...all} rows={4} spellcheck={false} />
  if (kind === 'boolean') return <input id={id} name={all.name} type="checkbox" />
  if (kind === 'number') return <input {...all} type="number" step="any" />
  if (kind === 'text') return <input {...all} />
  return (
    <select {...all}>
      {!isRequired && <option value="">–</option>}
      {choices.map((choice, index) => (
        <option key={index} value={index}>
          {visible(typeof choice === 'string' ? choice : JSON.stringify(choice))}
        </option>
      ))}
    </select>
  )
}
