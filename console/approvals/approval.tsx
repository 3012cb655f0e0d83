import { useState } from 'preact/hooks'
import type { WaitingRequest } from '../../src/features/approvals/inbox.ts'
import { Ago } from '../parts/ago.tsx'
import { visible } from '../text.ts'
import { Answering, Asked } from './answering.tsx'
import { wishOf } from './inbox.ts'
import { Decided, type Outcome } from './outcome.tsx'

/** A request beside its run, with the form that decides it. */
export function Approval({
  waiting,
  isOpen,
  onChanged,
  onDecided,
}: {
  waiting: WaitingRequest
  /** Whether the user may decide it. */
  isOpen: boolean
  /** Called when the request has changed on the service, to load it again. */
  onChanged: () => Promise<void>
  /** Called when it is decided. `next` is the run that continues, if it is the user's own. */
  onDecided: (next: string | undefined) => void
}) {
  const [outcome, setOutcome] = useState<Outcome>()
  return (
    <article class="card approval">
      <h2>{visible(wishOf(waiting))}</h2>
      <p class="soft">
        <Ago at={waiting.createdAt} />
      </p>
      {outcome ? (
        <>
          <Asked request={waiting.request} edited={outcome.edited} />
          <Decided outcome={outcome} />
        </>
      ) : isOpen ? (
        <Answering
          waiting={waiting}
          onChanged={onChanged}
          onDecided={outcome => {
            setOutcome(outcome)
            onDecided(outcome.next)
          }}
        />
      ) : (
        <>
          <Asked request={waiting.request} />
          <p class="soft">You may read this. Others decide it.</p>
        </>
      )}
    </article>
  )
}
