import { useEffect, useState } from 'preact/hooks'
import type { WaitingRequest } from '../../src/features/approvals/inbox.ts'
import { Approval } from '../approvals/approval.tsx'
import { inStableOrder } from '../approvals/inbox.ts'
import { hasInbox, inboxError, inboxes } from '../approvals/live.ts'
import { lookAgain } from '../live.ts'
import { Failure, Notice } from '../parts/notice.tsx'
import { config } from '../service.ts'

/** The requests that wait for the user. */
export function Approvals() {
  const { mine, others } = inboxes.value
  const [shown, setShown] = useState<readonly WaitingRequest[]>([])
  useEffect(() => {
    setShown(before => inStableOrder(before, [mine ?? new Map(), others ?? new Map()]))
  }, [mine, others])
  const isKnown = mine !== undefined && others !== undefined
  return (
    <>
      <h1 tabIndex={-1}>Approvals</h1>
      {!hasInbox.value && <Absent />}
      {inboxError.value !== undefined && <Failure error={inboxError.value} />}
      {hasInbox.value && !isKnown && inboxError.value === undefined && <p aria-busy="true">Loading…</p>}
      {isKnown && shown.length === 0 && <p>Nothing is waiting for you.</p>}
      <div class="cards">
        {shown.map(waiting => {
          const { id, digest } = waiting.request
          const isGone = !mine?.has(id) && !others?.has(id)
          return <Approval key={`${id} ${digest}`} waiting={waiting} isGone={isGone} onChanged={lookAgain} />
        })}
      </div>
    </>
  )
}

function Absent() {
  const hasPlugin = config.value.plugins.includes('approvals')
  return (
    <Notice>
      {hasPlugin
        ? 'Approvals are shown to users who are logged in. Log in, or add an `authenticate` middleware.'
        : 'This service has no approvals. To add them, add the plugin `approvals()` of `servable/approvals`.'}
    </Notice>
  )
}
