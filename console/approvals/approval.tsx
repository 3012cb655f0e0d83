import { useEffect, useRef, useState } from 'preact/hooks'
import type { Waiting } from '../../src/approvals/inbox.ts'
import { useActing } from '../parts/action.tsx'
import { Ago } from '../parts/ago.tsx'
import { Facts } from '../parts/facts.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { linkTo } from '../place.ts'
import { client, codeOf, providerKeys } from '../service.ts'
import { visible } from '../text.ts'

/** What a run asks, with the buttons that decide it. */
export function Approval({
  waiting,
  isGone = false,
  onChanged,
  onDecided,
}: {
  waiting: Waiting
  /** It waits no longer. */
  isGone?: boolean
  /** It is another one by now: reads it anew. */
  onChanged: () => Promise<void>
  /** It is decided. `next`: the run that goes on, if it is the user's own. */
  onDecided?: (next: string | undefined) => void
}) {
  const { request, run, createdAt, expiresAt } = waiting
  const [outcome, setOutcome] = useState<{ decision: 'approve' | 'deny'; next: string | undefined }>()
  const decide = async (decision: 'approve' | 'deny', more: object) => {
    const { next } = await client.approvals.decide(
      waiting,
      { decision, ...more },
      { keys: providerKeys.value },
    )
    setOutcome({ decision, next: next?.id })
    onDecided?.(next?.id)
  }
  const title = `${run.name} ${request.kind === 'question' ? 'asks' : `wants ${request.toolName}`}`
  return (
    <article class="card approval">
      <h3>{visible(title)}</h3>
      <p class="soft">
        <Ago at={createdAt} />
      </p>
      {request.message !== undefined && <p>{visible(request.message)}</p>}
      <Facts
        facts={{
          'Asked by': run.owner === undefined ? 'you' : (run.owner ?? 'nobody known'),
          User: run.userId,
          Run: <a href={linkTo('runs', [run.id])}>{run.id}</a>,
          Expires: expiresAt && <Time at={expiresAt} />,
        }}
      />
      {request.args !== undefined && (
        <JsonView value={request.args} label={`arguments of ${request.toolName}`} />
      )}
      {outcome ? (
        <Outcome {...outcome} />
      ) : (
        <Open waiting={waiting} isGone={isGone} decide={decide} onChanged={onChanged} />
      )}
    </article>
  )
}

interface Deciding {
  readonly waiting: Waiting
  readonly decide: (decision: 'approve' | 'deny', more: object) => Promise<void>
  readonly onChanged: () => Promise<void>
}

/** The buttons, or why there are none. */
function Open({ isGone, ...deciding }: Deciding & { isGone: boolean }) {
  const { request, run } = deciding.waiting
  if (isGone) return <Notice>It waits no longer: it was decided elsewhere, or it has expired.</Notice>
  if (request.kind !== 'approval')
    return <Notice>This is no approval. Answer it in the chat, or with `client.runs.answer`.</Notice>
  if (run.isTask)
    return <Notice>An A2A task asks this. Answer it over A2A, with a message to the task {run.id}.</Notice>
  return <Decision {...deciding} />
}

function Outcome({ decision, next }: { decision: 'approve' | 'deny'; next: string | undefined }) {
  const said = useRef<HTMLParagraphElement>(null)
  // The button that had the focus is gone.
  useEffect(() => said.current?.focus(), [])
  return (
    <p ref={said} tabIndex={-1} class="notice">
      {decision === 'approve' ? '✓ Approved.' : '■ Denied.'}{' '}
      {next && <a href={linkTo('runs', [next])}>See how the run goes on</a>}
    </p>
  )
}

function Decision({ waiting: { request }, decide, onChanged }: Deciding) {
  const asked = JSON.stringify(request.args, null, 2) ?? ''
  const [args, setArgs] = useState<string>()
  const [reason, setReason] = useState('')
  const { isBusy, error, act } = useActing()
  const approve = async () => {
    const isEdited = args !== undefined && args !== asked
    await decide('approve', isEdited ? { editedArgs: parse(args) } : {})
  }
  const deny = () => decide('deny', reason.trim() === '' ? {} : { reason: reason.trim() })
  return (
    <>
      {request.editable &&
        (args === undefined ? (
          <button type="button" onClick={() => setArgs(asked)}>
            Edit the arguments
          </button>
        ) : (
          <label>
            Arguments, as JSON
            <textarea
              rows={6}
              spellcheck={false}
              value={args}
              onInput={({ currentTarget }) => setArgs(currentTarget.value)}
            />
          </label>
        ))}
      <label>
        Reason, if you deny
        <input value={reason} onInput={({ currentTarget }) => setReason(currentTarget.value)} />
      </label>
      <p class="actions">
        <button type="button" class="main" disabled={isBusy} onClick={() => void act(approve)}>
          Approve
        </button>
        <button type="button" disabled={isBusy} onClick={() => void act(deny)}>
          Deny
        </button>
      </p>
      {codeOf(error) === 'request_changed' ? (
        <Notice kind="error">
          The request has changed since it was shown. Nothing is decided.{' '}
          <button type="button" onClick={() => void act(onChanged)}>
            Show it as it is now
          </button>
        </Notice>
      ) : (
        error !== undefined && <Failure error={error} />
      )}
    </>
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('The arguments are no JSON.')
  }
}
