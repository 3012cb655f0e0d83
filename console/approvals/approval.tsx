import { useEffect, useRef, useState } from 'preact/hooks'
import type { Answer, ContentPart } from '../../src/agents/contract.ts'
import type { WaitingRequest } from '../../src/features/approvals/inbox.ts'
import { useLoaded } from '../loading.ts'
import { type Acting, useActing } from '../parts/action.tsx'
import { Ago } from '../parts/ago.tsx'
import { Facts } from '../parts/facts.tsx'
import { Folded } from '../parts/folded.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { Decision } from '../requests/decision.tsx'
import { SchemaForm } from '../requests/schema-form.tsx'
import { linkTo } from '../route.ts'
import { client, codeOf, providerKeys } from '../service.ts'
import { visible } from '../text.ts'

/** A request of a run, with the buttons that decide it. */
export function Approval({
  waiting,
  isGone = false,
  isOpen = true,
  onChanged,
  onDecided,
}: {
  waiting: WaitingRequest
  /** Whether it no longer waits. */
  isGone?: boolean
  /** Whether the user may decide it. */
  isOpen?: boolean
  /** Called when the request has changed on the service, to load it again. */
  onChanged: () => Promise<void>
  /** Called when it is decided. `next` is the run that continues, if it is the user's own. */
  onDecided?: (next: string | undefined) => void
}) {
  const { request, run, createdAt, expiresAt } = waiting
  const [outcome, setOutcome] = useState<{ word: string; next: string | undefined }>()
  const decide = async (given: GivenAnswer, word: string) => {
    const { id, digest } = request
    const { next } = await client.runs.answer(run.id, [{ ...given, id, digest }], {
      keys: providerKeys.value,
    })
    setOutcome({ word, next: next?.id })
    onDecided?.(next?.id)
  }
  const title = `${run.name} ${request.kind === 'question' ? 'asks' : `wants ${request.toolName}`}`
  return (
    <article class="card approval">
      <h2>{visible(title)}</h2>
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
        <Folded summary="The conversation so far">{() => <Before id={run.id} />}</Folded>
      )}
      {request.args !== undefined && (
        <JsonView value={request.args} label={`arguments of ${request.toolName}`} />
      )}
      {outcome ? (
        <Outcome {...outcome} />
      ) : !isOpen ? (
        <p class="soft">You may read this. Others decide it.</p>
      ) : (
        <Open waiting={waiting} isGone={isGone} decide={decide} onChanged={onChanged} />
      )}
    </article>
  )
}

/** The earlier messages of the user and the agent. */
function Before({ id }: { id: string }) {
  const { value, error } = useLoaded(id, signal => client.approvals.get(id, { signal }))
  if (error !== undefined) return <Failure error={error} />
  if (value === undefined) return <p aria-busy="true">Loading…</p>
  return (
    <>
      {value.messages.map((message, at) => {
        const content = ('content' in message && message.content) || ''
        const text = typeof content === 'string' ? content : content.map(wordsOf).join('\n')
        return (
          <p key={at} class="answer">
            <span class="soft">{message.role === 'user' ? 'User: ' : 'Agent: '}</span>
            {visible(text)}
          </p>
        )
      })}
    </>
  )
}

/** A part of a message as text. Large files appear by name. */
function wordsOf(part: ContentPart): string {
  if (part.type === 'text') return part.text
  if (part.type === 'data') return JSON.stringify(part.data)
  return `[a file: ${(part.type === 'file' && part.filename) || (part.mimeType ?? part.type)}]`
}

/** The answer to a request. */
type GivenAnswer = Answer extends infer One
  ? One extends Answer
    ? Omit<One, 'id' | 'digest'>
    : never
  : never

/** The form that decides it, or the reason why there is none. */
function Open({
  waiting: { request },
  isGone,
  decide,
  onChanged,
}: {
  waiting: WaitingRequest
  isGone: boolean
  decide: (given: GivenAnswer, word: string) => Promise<void>
  onChanged: () => Promise<void>
}) {
  const acting = useActing()
  const { isBusy, act } = acting
  if (isGone)
    return (
      <Notice>There is nothing to decide any more: somebody else decided this, or it has expired.</Notice>
    )
  if (request.kind === 'client_tool')
    return (
      <Notice>
        The program that started the run has this tool, and answers this with `client.runs.answer`.
      </Notice>
    )
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
          take={given =>
            void act(() => decide(given, given.decision === 'approve' ? '✓ Approved.' : '■ Denied.'))
          }
        />
      )}
      <Refused acting={acting} onChanged={onChanged} />
    </>
  )
}

function Outcome({ word, next }: { word: string; next: string | undefined }) {
  const notice = useRef<HTMLParagraphElement>(null)
  // The button that had the focus was removed.
  useEffect(() => notice.current?.focus(), [])
  return (
    <p ref={notice} tabIndex={-1} class="notice">
      {word} {next && <a href={linkTo('runs', [next])}>See what the run does next</a>}
    </p>
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
