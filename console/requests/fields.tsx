import { Field, Wrong } from '../parts/form.tsx'
import { visible } from '../text.ts'
import { type Form, idOf } from './form.ts'
import type { Field as SchemaField } from './schema.ts'

/** A text that is longer has a field of several lines. */
const LONG = 60

/** Most characters of what was asked for, beside a changed field. */
const MAX_SHOWN = 80

/** The fields of a form, each with what is wrong with it beside it. */
export function Fields({ form }: { form: Form }) {
  const whole = form.fields.some(({ name }) => name === '') ? undefined : form.wrong.get('')
  return (
    <>
      {form.fields.map(field => (
        <Row key={field.name} form={form} field={field} />
      ))}
      {whole !== undefined && <Wrong>{visible(whole)}.</Wrong>}
    </>
  )
}

function Row({ form, field }: { form: Form; field: SchemaField }) {
  const wrong = form.wrong.get(field.name)
  const { description } = Object(field.schema)
  const label = visible(field.label)
  const isChanged = form.changed.includes(field)
  return (
    <Field
      id={idOf(form.id, field)}
      name={field.name}
      label={field.kind === 'json' ? `${label} as JSON` : label}
      hint={description && visible(String(description))}
      note={
        isChanged && (
          <>
            {asked(field)}{' '}
            <button
              type="button"
              class="link"
              aria-label={`Take back ${label}`}
              onClick={() => form.set(field.name, field.before?.text ?? '')}
            >
              Take back
            </button>
          </>
        )
      }
      wrong={wrong && `${visible(wrong)}.`}
    >
      <Input
        field={field}
        text={form.texts.get(field.name) ?? ''}
        set={text => form.set(field.name, text)}
        type={field.kind === 'boolean' ? 'checkbox' : undefined}
        class={isChanged ? 'changed' : undefined}
        aria-required={(field.isRequired && field.kind !== 'boolean') || undefined}
      />
    </Field>
  )
}

/** What was asked for before the change. */
function asked({ before, kind, choices }: SchemaField): string {
  if (before === undefined || !('value' in before) || before.text === '') return 'It asked for nothing here.'
  const shown = kind === 'choice' ? nameOf(choices[Number(before.text)]) : before.text
  return `It asked for ${visible(shown.slice(0, MAX_SHOWN))}${shown.length > MAX_SHOWN ? '…' : ''}.`
}

/** The input of a field. It passes on the attributes that it is given. */
function Input({
  field: { kind, choices, isRequired, before },
  text,
  set,
  type,
  ...all
}: {
  field: SchemaField
  text: string
  set: (text: string) => void
  type: 'checkbox' | undefined
  class: string | undefined
  'aria-required': true | undefined
}) {
  const onInput = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
    set(currentTarget.value)
  if (type === 'checkbox')
    return (
      <input
        {...all}
        type="checkbox"
        checked={text === 'true'}
        onChange={({ currentTarget }) => set(String(currentTarget.checked))}
      />
    )
  if (kind === 'choice')
    return (
      <select {...all} value={text} onChange={onInput}>
        {!isRequired && <option value="">–</option>}
        {choices.map((choice, index) => (
          <option key={index} value={index}>
            {visible(nameOf(choice))}
          </option>
        ))}
      </select>
    )
  const isLong = before !== undefined && (before.text.length > LONG || before.text.includes('\n'))
  if (kind === 'json' || isLong)
    return <textarea {...all} rows={isLong ? 4 : 2} spellcheck={false} value={text} onInput={onInput} />
  // A field for numbers would change with the wheel of the mouse.
  const inputMode = kind === 'number' ? 'decimal' : undefined
  return <input {...all} inputMode={inputMode} value={text} onInput={onInput} />
}

function nameOf(choice: unknown): string {
  return typeof choice === 'string' ? choice : JSON.stringify(choice)
}
