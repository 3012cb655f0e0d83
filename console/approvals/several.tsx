import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import type { WaitingRequest } from '../../src/features/approvals/inbox.ts'
import { JsonView } from '../parts/json-view.tsx'
import { Modal } from '../parts/modal.tsx'
import { Notice } from '../parts/notice.tsx'
import { type Decided, decisionOf } from '../requests/decision.tsx'
import { messageOf } from '../service.ts'
import { number, visible } from '../text.ts'
import { answer } from './answering.tsx'
import { lineOf, wishOf } from './inbox.ts'
import type { Outcome } from './outcome.tsx'

/** Decides the chosen requests at once, after each one's arguments are shown. */
export function Several({
  chosen,
  clear,
  onDecided,
}: {
  chosen: readonly WaitingRequest[]
  /** Chooses none. */
  clear: () => void
  onDecided: (decided: readonly WaitingRequest[], outcome: Outcome) => void
}) {
  const isOpen = useSignal(false)
  const close = () => {
    isOpen.value = false
  }
  return (
    <>
      {chosen.length > 0 && (
        <p class="actions several">
          <span role="status">{number(chosen.length)} chosen</span>
          <button
            type="button"
            class="main push"
            onClick={() => {
              isOpen.value = true
            }}
          >
            Decide them…
          </button>
          <button type="button" onClick={clear}>
            Clear the choice
          </button>
        </p>
      )}
      <Modal isOpen={isOpen} label="Decide several at once" kind="several-dialog">
        <Deciding chosen={chosen} close={close} onDecided={onDecided} />
      </Modal>
    </>
  )
}

/** The requests with their arguments, and the buttons that decide all of them. */
function Deciding({
  chosen,
  close,
  onDecided,
}: Pick<Parameters<typeof Several>[0], 'chosen' | 'onDecided'> & { close: () => void }) {
  const [reason, setReason] = useState('')
  const [left, setLeft] = useState<number>()
  const [failed, setFailed] = useState<readonly string[]>([])
  const decide = async (decision: Decided['decision']) => {
    const wrong: string[] = []
    const runs = byRun(chosen)
    setFailed([])
    for (const [at, requests] of runs.entries()) {
      setLeft(runs.length - at)
      try {
        onDecided(requests, await answer(requests, decisionOf(decision, reason)))
      } catch (error) {
        wrong.push(...requests.map(each => `${lineOf(each)}: ${messageOf(error)}`))
      }
    }
    setLeft(undefined)
    setFailed(wrong)
    if (wrong.length === 0) close()
  }
  const isBusy = left !== undefined
  return (
    <div class="form">
      <h2>{chosen.length === 1 ? 'Decide 1 request' : `Decide ${number(chosen.length)} requests`}</h2>
      <ul class="args">
        {chosen.map(each => (
          <li key={each.request.id}>
            <p>
              <strong>{visible(wishOf(each))}</strong>{' '}
              <span class="soft">
                {each.run.owner === undefined
                  ? 'for you'
                  : `for ${visible(each.run.owner ?? 'nobody known')}`}
              </span>
            </p>
            {each.request.message !== undefined && <p>{visible(each.request.message)}</p>}
            <JsonView value={each.request.args} label={`arguments of ${lineOf(each)}`} />
          </li>
        ))}
      </ul>
      <label>
        Reason for the agent (optional)
        <input value={reason} onInput={({ currentTarget }) => setReason(currentTarget.value)} />
      </label>
      {failed.length > 0 && (
        <Notice kind="error">
          These are not decided yet. Look at each, and decide it there.{' '}
          {failed.map(each => visible(each)).join(' · ')}
        </Notice>
      )}
      <p role="status">{isBusy && `${number(left)} left…`}</p>
      <p class="actions">
        <button type="button" class="main" disabled={isBusy} onClick={() => void decide('approve')}>
          Approve {number(chosen.length)}
        </button>
        <button type="button" disabled={isBusy} onClick={() => void decide('deny')}>
          Deny {number(chosen.length)}
        </button>
        <button type="button" class="push" onClick={close}>
          Cancel
        </button>
      </p>
    </div>
  )
}

/** The requests of each run. They are answered together, since a run goes on after its last answer. */
function byRun(requests: readonly WaitingRequest[]): readonly (readonly WaitingRequest[])[] {
  const runs = new Map<string, readonly WaitingRequest[]>()
  for (const each of requests) runs.set(each.run.id, [...(runs.get(each.run.id) ?? []), each])
  return [...runs.values()]
}
