import type { Answer } from '../../src/agents/contract.ts'
import type { WaitingRequest } from '../../src/features/approvals/inbox.ts'
import { type Acting, useActing } from '../parts/action.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Decision } from '../requests/decision.tsx'
import { Opening } from '../requests/opening.tsx'
import { SchemaForm } from '../requests/schema-form.tsx'
import { client, codeOf, providerKeys } from '../service.ts'
import { visible } from '../text.ts'
import type { Outcome } from './outcome.tsx'

/** The answer to a request. */
type GivenAnswer = Answer extends infer One
  ? One extends Answer
    ? Omit<One, 'id' | 'digest'>
    : never
  : never

/** Answers requests of one run together: all of the answers count, or none. */
export async function answer(requests: readonly WaitingRequest[], given: GivenAnswer): Promise<Outcome> {
  const answers = requests.map(({ request: { id, digest } }) => ({ ...given, id, digest }))
  const id = requests[0]?.run.id ?? ''
  const { next, record } = await client.runs.answer(id, answers, { keys: providerKeys.value })
  // Others than the owner are told that the run goes on, and not as which.
  const { goesOn = next !== undefined, resumable = false } = Object(record)
  const is = !('decision' in given) ? 'answered' : given.decision === 'approve' ? 'approved' : 'denied'
  return {
    ...{ is, next: next?.id, goesOn, needsKey: next === undefined && resumable === true },
    ...('editedArgs' in given && { edited: { args: given.editedArgs } }),
  }
}

/** What is asked, where nobody can decide it here, or as it was approved. */
export function Asked({
  request: { message, args, toolName },
  edited,
}: Pick<WaitingRequest, 'request'> & Pick<Outcome, 'edited'>) {
  return (
    <div class="form">
      {message !== undefined && <p class="said">{visible(message)}</p>}
      {edited && <h2>Approved with changes</h2>}
      {args !== undefined && (
        <JsonView value={edited ? edited.args : args} label={`arguments of ${toolName}`} />
      )}
    </div>
  )
}

/** What is asked, and the form that decides it. */
export function Answering({
  waiting,
  keys = false,
  onChanged,
  onDecided,
}: {
  waiting: WaitingRequest
  /** Whether keys decide. */
  keys?: boolean
  /** Called when the request has changed on the service, to load it again. */
  onChanged: () => Promise<void>
  onDecided: (outcome: Outcome) => void
}) {
  const { request } = waiting
  const acting = useActing()
  const { isBusy, act } = acting
  const give = (given: GivenAnswer) => void act(async () => onDecided(await answer([waiting], given)))
  if (request.kind === 'client_tool')
    return (
      <>
        <Asked request={request} />
        <Notice>
          The program that started the run has this tool, and answers this with `client.runs.answer`.
        </Notice>
      </>
    )
  const error = <Refused acting={acting} onChanged={onChanged} />
  const message = request.message !== undefined && <p class="said">{visible(request.message)}</p>
  if (request.kind !== 'question')
    return (
      <Decision request={request} isBusy={isBusy} take={give} keys={keys} error={error}>
        {message}
      </Decision>
    )
  if (request.url !== undefined)
    return (
      <>
        {message}
        {error}
        <Opening url={request.url} isBusy={isBusy} take={() => give({ value: true })} />
      </>
    )
  return (
    <SchemaForm
      id={request.id}
      schema={request.schema}
      action="Answer"
      isBusy={isBusy}
      take={value => give({ value })}
      error={error}
    >
      {message}
    </SchemaForm>
  )
}

/** The reason why it is not decided. */
function Refused({ acting: { error, act }, onChanged }: { acting: Acting; onChanged: () => Promise<void> }) {
  if (error === undefined) return null
  if (codeOf(error) !== 'request_changed') return <Failure error={error} />
  return (
    <Notice kind="error">
      The request has changed since it was shown. Nothing is decided.{' '}
      <button type="button" onClick={() => void act(onChanged)}>
        Show the new request
      </button>
    </Notice>
  )
}
