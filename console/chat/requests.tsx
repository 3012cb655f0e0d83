import { useEffect, useRef, useState } from 'preact/hooks'
import type { Answer, InputRequest } from '../../src/agents/contract.ts'
import { inboxes } from '../approvals/live.ts'
import { JsonView } from '../parts/json-view.tsx'
import { Failure } from '../parts/notice.tsx'
import { type Decided, Decision } from '../requests/decision.tsx'
import { Opening } from '../requests/opening.tsx'
import { SchemaForm } from '../requests/schema-form.tsx'
import { visible } from '../text.ts'

/** An answer without the ids of its request. */
type Given = Decided | { readonly value: unknown } | { readonly result: unknown }

/** The requests of a run, with a form for each. */
export function Requests({
  requests,
  respond,
  lookAgain,
}: {
  requests: readonly InputRequest[]
  respond: (answers: readonly Answer[]) => Promise<void>
  lookAgain: () => Promise<unknown>
}) {
  const [isTogether, setTogether] = useState(false)
  const [kept, setKept] = useState<readonly Answer[]>([])
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  useRemoved(requests, () => void (isBusy || lookAgain().catch(setError)))
  const section = useRef<HTMLElement>(null)
  const send = async (answers: readonly Answer[]) => {
    setBusy(true)
    setError(undefined)
    await respond(answers).catch(setError)
    setKept([])
    setBusy(false)
    // The button that had the focus was removed, or disabled meanwhile.
    if (document.activeElement === document.body) next(section.current)?.focus()
  }
  const take = async ({ id, digest }: InputRequest, given: Given) => {
    const answers = [...kept.filter(each => each.id !== id), { ...given, id, digest }]
    if (isTogether && answers.length < requests.length) setKept(answers)
    else await send(isTogether ? answers : [{ ...given, id, digest }])
  }
  return (
    <section ref={section} class="requests" aria-label="What the agent asks">
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

/** Calls `onLeft` when requests have disappeared from the inbox, because somebody else has decided them. */
function useRemoved(requests: readonly InputRequest[], onLeft: () => void): void {
  const { mine } = inboxes.value
  const wasThere = useRef(false)
  const isThere = mine !== undefined && requests.some(({ id }) => mine.has(id))
  useEffect(() => {
    if (wasThere.current && !isThere) onLeft()
    wasThere.current = isThere
  }, [isThere])
}

/** The next element to use: the form of the next request, or the field for a new message. */
function next(section: HTMLElement | null): HTMLElement | null {
  const fields = ':is(input, select, textarea, button)'
  return (section ?? document).querySelector(section ? fields : '.composer textarea')
}

interface RequestProps {
  readonly request: InputRequest
  readonly isBusy: boolean
  /** Whether it is answered, and waits for the other answers. */
  readonly isKept: boolean
  readonly take: (given: Given) => void
}

function Request(props: RequestProps) {
  const { message, kind } = props.request
  return (
    <div class="card request">
      {message !== undefined && <p>{visible(message)}</p>}
      {kind === 'approval' ? <Approval {...props} /> : <Question {...props} />}
      {props.isKept && <p class="soft">Answered. It is sent when you have answered the others.</p>}
    </div>
  )
}

function Approval({ request, isBusy, take }: RequestProps) {
  const { toolName = 'a tool' } = request
  return (
    <>
      <p>
        May <strong>{visible(toolName)}</strong> run with these arguments?
      </p>
      <Decision request={request} isBusy={isBusy} take={take} />
    </>
  )
}

function Question({ request, isBusy, take }: RequestProps) {
  const { id, kind, toolName = 'a tool', args, schema, url } = request
  const isTool = kind === 'client_tool'
  if (url !== undefined) return <Opening url={url} isBusy={isBusy} take={() => take({ value: true })} />
  return (
    <SchemaForm
      id={id}
      schema={isTool ? {} : schema}
      action="Answer"
      isBusy={isBusy}
      take={value => take(isTool ? { result: value } : { value })}
    >
      {isTool && (
        <>
          <p>
            What is the result of <strong>{visible(toolName)}</strong>?
          </p>
          <JsonView value={args} label={`arguments of ${toolName}`} />
        </>
      )}
    </SchemaForm>
  )
}
