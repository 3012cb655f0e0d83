import { useEffect, useRef, useState } from 'preact/hooks'
import type { Answer } from '../../src/agents/contract.ts'
import type { Waiting } from '../../src/approvals/inbox.ts'
import { type Acting, Action, useActing } from '../parts/action.tsx'
import { Ago } from '../parts/ago.tsx'
import { Facts } from '../parts/facts.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { linkTo } from '../place.ts'
import { client, codeOf, providerKeys } from '../service.ts'
import { typedValue, visible } from '../text.ts'

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

/** What is said to a request. */
type Said = Answer extends infer One ? (One extends Answer ? Omit<One, 'id' | 'digest'> : never) : never

interface Deciding {
  readonly waiting: Waiting
  readonly decide: (said: Said, word: string) => Promise<void>
  readonly onChanged: () => Promise<void>
}

/** The buttons, or why there are none. */
function Open({ isGone, ...deciding }: Deciding & { isGone: boolean }) {
  const { request, run } = deciding.waiting
  if (isGone) return <Notice>It waits no longer: it was decided elsewhere, or it has expired.</Notice>
  if (request.kind === 'client_tool')
    return <Notice>The client of the run has this tool. It answers with `client.runs.answer`.</Notice>
  if (run.isTask)
    return <Notice>An A2A task asks this. Answer it over A2A, with a message to the task {run.id}.</Notice>
  return request.kind === 'question' ? <Question {...deciding} /> : <Decision {...deciding} />
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

function Decision({ waiting: { request }, decide, onChanged }: Deciding) {
  const asked = visible(JSON.stringify(request.args, null, 2) ?? '')
  const [args, setArgs] = useState<string>()
  const [reason, setReason] = useState('')
  const acting = useActing()
  const approve = async () => {
    const isEdited = args !== undefined && args !== asked
    await decide({ decision: 'approve', ...(isEdited && { editedArgs: parse(args) }) }, '✓ Approved.')
  }
  const why = reason.trim()
  const deny = () => decide({ decision: 'deny', ...(why !== '' && { reason: why }) }, '■ Denied.')
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
        <Action kind="main" acting={acting} work={approve}>
          Approve
        </Action>
        <Action acting={acting} work={deny}>
          Deny
        </Action>
      </p>
      <Refused acting={acting} onChanged={onChanged} />
    </>
  )
}

/** Asks for the value of an answer: text where the schema says so, else JSON, or text that is no JSON. */
function Question({ waiting: { request }, decide, onChanged }: Deciding) {
  const [text, setText] = useState('')
  const acting = useActing()
  const isText = Object(request.schema).type === 'string'
  const answer = () => decide({ value: isText ? text : typedValue(text) }, '✓ Answered.')
  return (
    <>
      <label>
        Answer
        <textarea rows={2} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
      </label>
      <p class="actions">
        <Action kind="main" acting={acting} work={answer}>
          Answer
        </Action>
      </p>
      <Refused acting={acting} onChanged={onChanged} />
    </>
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('The arguments are no JSON.')
  }
}
