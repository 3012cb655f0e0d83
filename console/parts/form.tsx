import type { ComponentChildren } from 'preact'
import { cloneElement, createContext, type VNode } from 'preact'
import { useContext, useEffect, useId, useRef } from 'preact/hooks'
import type { Issue } from '../../src/base/errors.ts'
import { codeOf, messageOf } from '../service.ts'
import { type Acting, useActing } from './action.tsx'
import { Failure, Notice } from './notice.tsx'
import { type Wrong as WrongOf, wrongIn } from './wrong.ts'

const WrongFields = createContext<WrongOf>({})

/** The browser, or the page itself, finds that fields are not filled in correctly. */
export class Misfilled extends Error {
  readonly issues: readonly Issue[]

  constructor(issues: readonly Issue[]) {
    super('Correct the fields that are marked')
    this.issues = issues
  }
}

/**
 * A form. What is wrong stands beside its field, and the first such field gets the focus. What belongs to no field stands at the end.
 */
export function Form({
  label,
  submit,
  work,
  at = {},
  given = {},
  kind = 'card form',
  isCleared = false,
  children,
  more,
}: {
  /** The name of the form, if nothing else names it. */
  label?: string | undefined
  /** The text of the button. */
  submit: string
  work: (fields: FormData) => Promise<unknown>
  /** The names of fields by the codes of errors that are about them. */
  at?: Readonly<Record<string, string>> | undefined
  /** What is known to be wrong before it is sent. */
  given?: WrongOf | undefined
  kind?: string | undefined
  /** Whether the fields are as at first once it is sent. */
  isCleared?: boolean
  /** Its content, which may depend on the running action. */
  children: ComponentChildren | ((acting: Acting) => ComponentChildren)
  /** What stands beside the button. */
  more?: ComponentChildren
}) {
  const acting = useActing()
  const form = useRef<HTMLFormElement>(null)
  const wrong = acting.error === undefined ? given : wrongOf(acting.error, at, form.current)
  const send = (event: SubmitEvent) => {
    event.preventDefault()
    const sent = event.currentTarget as HTMLFormElement
    void acting.act(async () => {
      const issues = misfilledIn(sent)
      if (issues.length > 0) throw new Misfilled(issues)
      await work(new FormData(sent))
      if (isCleared) sent.reset()
    })
  }
  // The fields are told after the form is rendered.
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [acting.error])
  const rest = wrong['']
  return (
    <form ref={form} class={kind} aria-label={label} noValidate onSubmit={send}>
      <WrongFields.Provider value={wrong}>
        {typeof children === 'function' ? children(acting) : children}
      </WrongFields.Provider>
      {rest !== undefined && <Notice kind="error">{rest}</Notice>}
      {acting.error !== undefined && Object.keys(wrong).length === 0 && <Failure error={acting.error} />}
      <p class="actions">
        <button type="submit" class="main" disabled={acting.isBusy}>
          {submit}
        </button>
        {more}
      </p>
    </form>
  )
}

/** What stands below a field. */
interface Notes {
  readonly hint?: ComponentChildren
  /** What was there before it was changed. */
  readonly note?: ComponentChildren
  /** What is wrong with it. Default: what its form finds. */
  readonly wrong?: ComponentChildren
  /** The id of the input. Default: one of its own. */
  readonly id?: string
}

/** A field with its label, and what stands below it. Its child is the input, which is given attributes. */
export function Field({
  name,
  label,
  children: input,
  ...below
}: Notes & {
  name: string
  label: ComponentChildren
  children: VNode<{ type?: string }>
}) {
  const { id, attributes, notes } = useNotes(name, below)
  const own = cloneElement(input, { id, name, ...attributes } as object)
  const title = <label for={id}>{label}</label>
  return (
    <div class="field">
      {input.props.type === 'checkbox' ? (
        <span class="check">
          {own} {title}
        </span>
      ) : (
        <>
          {title}
          {own}
        </>
      )}
      {notes}
    </div>
  )
}

/** A field of several choices. */
export function Several({
  name,
  label,
  hint,
  choices,
  chosen,
}: {
  name: string
  label: string
  hint?: ComponentChildren
  /** The titles of the choices by their values. */
  choices: Readonly<Record<string, string>>
  chosen: readonly string[]
}) {
  const { attributes, notes } = useNotes(name, { hint })
  return (
    <fieldset class="field">
      <legend>{label}</legend>
      {Object.entries(choices).map(([value, title]) => (
        <label key={value} class="check">
          <input
            type="checkbox"
            {...{ name, value, defaultChecked: chosen.includes(value) }}
            {...attributes}
          />
          {title}
        </label>
      ))}
      {notes}
    </fieldset>
  )
}

/** The notes of a field, and the attributes that tell of them. */
function useNotes(name: string, { hint, note, ...given }: Notes) {
  const own = useId()
  const found = useContext(WrongFields)[name]
  const { id = own, wrong = found } = given
  const described = [hint && `${id}-hint`, note && `${id}-note`, wrong && `${id}-wrong`]
  const attributes = {
    'aria-invalid': Boolean(wrong) || undefined,
    'aria-describedby': described.filter(Boolean).join(' ') || undefined,
  }
  const notes = (
    <>
      {hint && (
        <span id={`${id}-hint`} class="soft small">
          {hint}
        </span>
      )}
      {note && (
        <span id={`${id}-note`} class="soft small">
          {note}
        </span>
      )}
      {wrong && <Wrong id={`${id}-wrong`}>{wrong}</Wrong>}
    </>
  )
  return { id, attributes, notes }
}

/** What is wrong with a field, or with a whole value. */
export function Wrong({ id, children }: { id?: string; children: ComponentChildren }) {
  return (
    <span id={id} class="bad small" role="alert">
      {children}
    </span>
  )
}

/** The fields that the browser finds not filled in correctly. */
function misfilledIn({ elements }: HTMLFormElement): readonly Issue[] {
  return [...elements].flatMap(each => {
    const { name, validity, validationMessage: message } = each as HTMLInputElement
    return validity?.valid === false ? [{ path: name, message }] : []
  })
}

/** What an error says of the fields of a form. */
function wrongOf(
  error: unknown,
  at: Readonly<Record<string, string>>,
  form: HTMLFormElement | null,
): WrongOf {
  const code = codeOf(error)
  const field = code === undefined ? undefined : at[code]
  const issues = field ? [{ path: field, message: messageOf(error) }] : (Object(error).issues ?? [])
  return wrongIn(issues, name => Boolean(form?.querySelector(`.field [name="${CSS.escape(name)}"]`)))
}
