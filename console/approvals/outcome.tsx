import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { WaitingRequest } from '../../src/features/approvals/inbox.ts'
import type { ApprovalDetail } from '../../src/features/approvals/service.ts'
import { onNews } from '../live.ts'
import { useLoaded } from '../loading.ts'
import { Ago } from '../parts/ago.tsx'
import { Failure, Notice } from '../parts/notice.tsx'
import { Status } from '../parts/status.tsx'
import { linkTo } from '../route.ts'
import { client, codeOf, config, may } from '../service.ts'
import { visible } from '../text.ts'

/** What came of a decision of the user. */
export interface Outcome {
  readonly is: 'approved' | 'denied' | 'answered'
  /** The run that goes on, if it is the user's own. */
  readonly next?: string | undefined
  readonly goesOn: boolean
  /** The arguments that were approved, if the user has changed them. */
  readonly edited?: { readonly args: unknown } | undefined
  /** Whether all is decided, and the run waits for a key of its owner. */
  readonly needsKey: boolean
}

/** The signs of decisions, with a word, so that they do not depend on colour. */
const SIGNS = { approved: '✓ Approved', denied: '■ Denied', answered: '✓ Answered' } as const

/** What happened after the user's decision. It gets the focus, since the button that had it is gone. */
export function Decided({ outcome: { is, next, goesOn, needsKey } }: { outcome: Outcome }) {
  const notice = useRef<HTMLParagraphElement>(null)
  useEffect(() => notice.current?.focus(), [])
  return (
    <p ref={notice} tabIndex={-1} class="notice">
      {SIGNS[is]}. {next ? <Next id={next} /> : afterwards(goesOn, needsKey)}
    </p>
  )
}

function afterwards(goesOn: boolean, needsKey: boolean): string {
  if (needsKey) return 'The run goes on once its owner gives the key of the model again.'
  return goesOn ? 'The run goes on.' : 'The run waits for another answer.'
}

/** The run that goes on: its state as it changes, and the way to it. */
function Next({ id }: { id: string }) {
  const { value, reload } = useLoaded(id, signal => client.runs.get(id, { signal }))
  useEffect(() => onNews(event => 'run' in event && event.run.id === id && reload()), [id])
  return (
    <>
      {value && <Status run={value} />} <a href={linkTo('runs', [id])}>See what the run does next</a>
    </>
  )
}

/** What became of a request that the user has not decided and that waits no longer. */
export function Elsewhere({ id, run }: { id: string; run: string }) {
  const { value, error } = useLoaded(id, signal => client.approvals.get(run, { signal }))
  if (error !== undefined && codeOf(error) !== 'run_not_found') return <Failure error={error} />
  if (value === undefined && error === undefined) return <p aria-busy="true">Loading…</p>
  return <Notice>There is nothing to decide any more: {value ? fateOf(value, id) : GONE}</Notice>
}

const GONE = 'it was decided elsewhere, its run was stopped, or it is deleted.'

function fateOf({ answered, expiresAt, continuedBy }: ApprovalDetail, id: string): ComponentChildren {
  const one = answered.find(each => each.id === id)
  if (one === undefined) return Date.parse(expiresAt ?? '') <= Date.now() ? 'it has expired.' : GONE
  const { decision, answeredBy } = one
  return (
    <>
      {wordOf(decision)} by {nameOf(answeredBy.id)}, <Ago at={answeredBy.at} />.{' '}
      {continuedBy && <Next id={continuedBy} />}
    </>
  )
}

function nameOf(id: string | undefined): string {
  return id !== undefined && id === config.value.identity?.id ? 'you' : visible(id ?? 'somebody unknown')
}

function wordOf(decision: 'approve' | 'deny' | undefined): string {
  if (decision === undefined) return '✓ answered'
  return decision === 'approve' ? '✓ approved' : '■ denied'
}

/** The address of a run, if the user may see the run. A task is no run. */
export function addressOf({ id, owner, isTask }: WaitingRequest['run']): string | undefined {
  if (isTask) return undefined
  if (owner === undefined || owner === null) return linkTo('runs', [id])
  return may('read', owner) ? linkTo('runs', [id], { of: owner }) : undefined
}
