import { visible } from '../text.ts'
import { type Form, idOf } from './form.ts'
import type { Field } from './schema.ts'

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
      {whole !== undefined && <Wrong text={whole} />}
    </>
  )
}

function Row({ form, field }: { form: Form; field: Field }) {
  const id = idOf(form.id, field)
  const wrong = form.wrong.get(field.name)
  const { description } = Object(field.schema)
  const isChanged = form.changed.includes(field)
  const notes = [description && `${id}-about`, isChanged && `${id}-was`, wrong && `${id}-wrong`]
  return (
    <div class="field">
      <div class={field.kind === 'boolean' ? 'check' : undefined}>
        <label for={id}>
          {visible(field.label)}
          {field.kind === 'json' && ' as JSON'}
        </label>
        <Input
          field={field}
          text={form.texts.get(field.name) ?? ''}
          set={text => form.set(field.name, text)}
          all={{
            id,
            class: isChanged ? 'changed' : undefined,
            'aria-required': (field.isRequired && field.kind !== 'boolean') || undefined,
            'aria-describedby': notes.filter(Boolean).join(' ') || undefined,
            'aria-invalid': wrong !== undefined || undefined,
          }}
        />
      </div>
      {description && (
        <p id={`${id}-about`} class="soft small">
          {visible(String(description))}
        </p>
      )}
      {isChanged && (
        <p id={`${id}-was`} class="soft small">
          {asked(field)}{' '}
          <button
            type="button"
            class="link"
            aria-label={`Take back ${visible(field.label)}`}
            onClick={() => form.set(field.name, field.before?.text ?? '')}
          >
            Take back
          </button>
        </p>
      )}
      {wrong !== undefined && <Wrong id={`${id}-wrong`} text={wrong} />}
    </div>
  )
}

function Wrong({ id, text }: { id?: string; text: string }) {
  return (
    <p id={id} class="bad small" role="alert">
      {visible(text)}.
    </p>
  )
}

/** What was asked for before the change. */
function asked({ before, kind, choices }: Field): string {
  if (before === undefined || !('value' in before) || before.text === '') return 'It asked for nothing here.'
  const shown = kind === 'choice' ? nameOf(choices[Number(before.text)]) : before.text
  return `It asked for ${visible(shown.slice(0, MAX_SHOWN))}${shown.length > MAX_SHOWN ? '…' : ''}.`
}

function Input({
  field: { kind, choices, isRequired, before },
  text,
  set,
  all,
}: {
  field: Field
  text: string
  set: (text: string) => void
  /** Attributes of the element. */
  all: {
    readonly id: string
    readonly class: string | undefined
    readonly 'aria-required': true | undefined
    readonly 'aria-describedby': string | undefined
    readonly 'aria-invalid': true | undefined
  }
}) {
  const onInput = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
    set(currentTarget.value)
  if (kind === 'boolean')
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
