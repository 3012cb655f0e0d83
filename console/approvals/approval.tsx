import { useEffect, useRef, useState } from 'preact/hooks'
import type { Answer, ContentPart } from '../../src/agents/contract.ts'
import type { Waiting } from '../../src/features/approvals/inbox.ts'
import { useLoaded } from '../loading.ts'
import { type Acting, useActing } from '../parts/action.tsx'
import { Ago } from '../parts/ago.tsx'
import { Facts } from '../parts/facts.tsx'
import { Folded } from '../parts/folded.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { linkTo } from '../place.ts'
import { Decision } from '../requests/decision.tsx'
import { SchemaForm } from '../requests/schema-form.tsx'
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
  const [outcome, setOutcome] = useState<{ word: string; next: string | undefined }>()
  const decide = async (said: Said, word: string) => {
    const { id, digest } = request
    const { next } = await client.runs.answer(run.id, [{ ...said, id, digest }], { keys: providerKeys.value })
    setOutcome({ word, next: next?.id })
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
          [run.isTask ? 'A2A task' : 'Run']:
            run.isTask || run.owner !== undefined ? run.id : <a href={linkTo('runs', [run.id])}>{run.id}</a>,
          Expires: expiresAt && <Time at={expiresAt} />,
        }}
      />
      {!isGone && outcome === undefined && (
        <Folded summary="What was said before">{() => <Before id={run.id} />}</Folded>
      )}
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

/** The user's words and the agent's. */
function Before({ id }: { id: string }) {
  const { value, error } = useLoaded(id, signal => client.approvals.get(id, { signal }))
  if (error !== undefined) return <Failure error={error} />
  if (value === undefined) return <p aria-busy="true">Loading…</p>
  return (
    <>
      {value.messages.map((message, at) => {
        const content = ('content' in message && message.content) || ''
        const said = typeof content === 'string' ? content : content.map(wordsOf).join('\n')
        return (
          <p key={at} class="answer">
            <span class="soft">{message.role === 'user' ? 'User: ' : 'Agent: '}</span>
            {visible(said)}
          </p>
        )
      })}
    </>
  )
}

/** A part of a message. The service has named large files. */
function wordsOf(part: ContentPart): string {
  if (part.type === 'text') return part.text
  if (part.type === 'data') return JSON.stringify(part.data)
  return `[a file: ${(part.type === 'file' && part.filename) || (part.mimeType ?? part.type)}]`
}

/** What is said to a request. */
type Said = Answer extends infer One ? (One extends Answer ? Omit<One, 'id' | 'digest'> : never) : never

/** The form that decides it, or why there is none. */
function Open({
  waiting: { request },
  isGone,
  decide,
  onChanged,
}: {
  waiting: Waiting
  isGone: boolean
  decide: (said: Said, word: string) => Promise<void>
  onChanged: () => Promise<void>
}) {
  const acting = useActing()
  const { isBusy, act } = acting
  if (isGone) return <Notice>It waits no longer: it was decided elsewhere, or it has expired.</Notice>
  if (request.kind === 'client_tool')
    return <Notice>The client of the run has this tool. It answers with `client.runs.answer`.</Notice>
  return (
    <>
      {request.kind === 'question' ? (
        <SchemaForm
          id={request.id}
          schema={request.schema}
          action="Answer"
          isBusy={isBusy}
          take={value => void act(() => decide({ value }, '✓ Answered.'))}
        />
      ) : (
        <Decision
          request={request}
          isBusy={isBusy}
          take={said =>
            void act(() => decide(said, said.decision === 'approve' ? '✓ Approved.' : '■ Denied.'))
          }
        />
      )}
      <Refused acting={acting} onChanged={onChanged} />
    </>
  )
}

function Outcome({ word, next }: { word: string; next: string | undefined }) {
  const said = useRef<HTMLParagraphElement>(null)
  // The button that had the focus is gone.
  useEffect(() => said.current?.focus(), [])
  return (
    <p ref={said} tabIndex={-1} class="notice">
      {word} {next && <a href={linkTo('runs', [next])}>See how the run goes on</a>}
    </p>
  )
}

/** Why it is not decided. */
function Refused({ acting: { error, act }, onChanged }: { acting: Acting; onChanged: () => Promise<void> }) {
  if (error === undefined) return null
  if (codeOf(error) !== 'request_changed') return <Failure error={error} />
  return (
    <Notice kind="error">
      The request has changed since it was shown. Nothing is decided.{' '}
      <button type="button" onClick={() => void act(onChanged)}>
        Show it as it is now
      </button>
    </Notice>
  )
}
