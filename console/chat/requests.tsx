import { useState } from 'preact/hooks'
import type { Answer, InputRequest } from '../../src/agents/contract.ts'
import { JsonView } from '../parts/json-view.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { messageOf } from '../service.ts'
import { visible } from '../text.ts'
import { type Field, fieldsOf, formValue } from './schema.ts'

/** An answer without what tells to which request it belongs. */
type Given =
  | { readonly decision: 'approve' | 'deny'; readonly reason?: string; readonly editedArgs?: unknown }
  | { readonly value: unknown }
  | { readonly result: unknown }

/** What a run waits for, with a form for each request. */
export function Requests({
  requests,
  respond,
}: {
  requests: readonly InputRequest[]
  respond: (answers: readonly Answer[]) => Promise<void>
}) {
  const [isTogether, setTogether] = useState(false)
  const [kept, setKept] = useState<readonly Answer[]>([])
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const send = async (answers: readonly Answer[]) => {
    setBusy(true)
    setError(undefined)
    await respond(answers).catch(setError)
    setKept([])
    setBusy(false)
  }
  const take = async ({ id, digest }: InputRequest, given: Given) => {
    const answers = [...kept.filter(each => each.id !== id), { ...given, id, digest }]
    if (isTogether && answers.length < requests.length) setKept(answers)
    else await send(isTogether ? answers : [{ ...given, id, digest }])
  }
  return (
    <section class="requests" aria-label="What the agent waits for">
      {requests.length > 1 && (
        <label class="check">
          <input type="checkbox" checked={isTogether} onChange={() => setTogether(!isTogether)} /> Send all{' '}
          {requests.length} answers together
        </label>
      )}
      {requests.map(each => (
        <Request
          key={each.id}
          request={each}
          isBusy={isBusy}
          isKept={kept.some(({ id }) => id === each.id)}
          take={given => void take(each, given)}
        />
      ))}
      {error !== undefined && <Failure error={error} />}
    </section>
  )
}

interface RequestProps {
  readonly request: InputRequest
  readonly isBusy: boolean
  /** It is answered, and waits for the other answers. */
  readonly isKept: boolean
  readonly take: (given: Given) => void
}

function Request(props: RequestProps) {
  const { message, kind } = props.request
  return (
    <div class="card request">
      {message !== undefined && <p>{visible(message)}</p>}
      {kind === 'approval' ? <Approval {...props} /> : <Question {...props} />}
      {props.isKept && <p class="soft">Answered. It is sent with the others.</p>}
    </div>
  )
}

function Approval({ request, isBusy, take }: RequestProps) {
  const { toolName = 'a tool', args, editable } = request
  const [edited, setEdited] = useState<string>()
  const [reason, setReason] = useState('')
  const [wrong, setWrong] = useState<string>()
  const decide = (decision: 'approve' | 'deny') => {
    try {
      const editedArgs = edited === undefined || decision === 'deny' ? {} : { editedArgs: JSON.parse(edited) }
      setWrong(undefined)
      take({ decision, ...(reason !== '' && { reason }), ...editedArgs })
    } catch (error) {
      setWrong(messageOf(error))
    }
  }
  return (
    <>
      <p>
        May <strong>{visible(toolName)}</strong> run with these arguments?
      </p>
      {edited === undefined ? (
        <JsonView value={args} label={`arguments of ${toolName}`} />
      ) : (
        <label>
          Arguments as JSON
          <textarea rows={4} value={edited} onInput={event => setEdited(event.currentTarget.value)} />
        </label>
      )}
      {editable && edited === undefined && (
        <button type="button" onClick={() => setEdited(visible(JSON.stringify(args, null, 2) ?? ''))}>
          Edit arguments
        </button>
      )}
      <label>
        Reason (optional)
        <input value={reason} onInput={event => setReason(event.currentTarget.value)} />
      </label>
      {wrong !== undefined && <Notice kind="error">{wrong}</Notice>}
      <p class="actions">
        <button type="button" class="main" disabled={isBusy} onClick={() => decide('approve')}>
          Approve
        </button>
        <button type="button" disabled={isBusy} onClick={() => decide('deny')}>
          Deny
        </button>
      </p>
    </>
  )
}

function Question({ request, isBusy, take }: RequestProps) {
  const { kind, toolName = 'a tool', args, schema } = request
  const isTool = kind === 'client_tool'
  const fields = isTool ? fieldsOf({}) : fieldsOf(schema)
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
      take(isTool ? { result: value } : { value })
    } catch (error) {
      setWrong(messageOf(error))
    }
  }
  return (
    <form onSubmit={submit}>
      {isTool && (
        <>
          <p>
            What is the result of <strong>{visible(toolName)}</strong>?
          </p>
          <JsonView value={args} label={`arguments of ${toolName}`} />
        </>
      )}
      {fields.map(field => (
        <div key={field.name} class={field.kind === 'boolean' ? 'check' : undefined}>
          <label for={`${request.id}-${field.name}`}>
            {visible(field.label)}
            {field.kind === 'json' && ' as JSON'}
          </label>
          <Input field={field} id={`${request.id}-${field.name}`} />
        </div>
      ))}
      {wrong !== undefined && <Notice kind="error">{wrong}</Notice>}
      <p class="actions">
        <button type="submit" class="main" disabled={isBusy}>
          Answer
        </button>
      </p>
    </form>
  )
}

function Input({ field: { name, kind, choices, isRequired }, id }: { field: Field; id: string }) {
  const all = { id, name: `field-${name}`, required: isRequired }
  if (kind === 'json') return <textarea {...all} rows={4} />
  if (kind === 'boolean') return <input id={id} name={all.name} type="checkbox" />
  if (kind === 'number') return <input {...all} type="number" step="any" />
  if (kind === 'text') return <input {...all} />
  return (
    <select {...all}>
      {choices.map((choice, index) => (
        <option key={index} value={index}>
          {visible(typeof choice === 'string' ? choice : JSON.stringify(choice))}
        </option>
      ))}
    </select>
  )
}
