import type { ComponentChildren } from 'preact'
import { Fields } from './fields.tsx'
import { useForm } from './form.ts'

/** A form for a value of a JSON Schema. */
export function SchemaForm({
  schema,
  title = 'Answer',
  id,
  action,
  isBusy,
  take,
  children,
  error,
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
  /** Content between the fields and the button. */
  error?: ComponentChildren
}) {
  const form = useForm(id, schema, title)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const read = form.read()
    if (read) take(read.value)
  }
  return (
    <form onSubmit={submit} noValidate>
      <div class="form">
        {children}
        <Fields form={form} />
        {error}
      </div>
      <p class="actions decide">
        <button type="submit" class="main" disabled={isBusy}>
          {action}
        </button>
      </p>
    </form>
  )
}
