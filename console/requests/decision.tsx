import { useState } from 'preact/hooks'
import type { InputRequest } from '../../src/agents/contract.ts'
import { Notice } from '../parts/notice.tsx'
import { visible } from '../text.ts'

/** What is decided of an approval. */
export interface Decided {
  readonly decision: 'approve' | 'deny'
  readonly reason?: string
  readonly editedArgs?: unknown
}

/** The buttons that approve or deny. The arguments may be changed where the agent lets them. */
export function Decision({
  request: { args, editable },
  isBusy,
  take,
}: {
  request: InputRequest
  isBusy: boolean
  take: (decided: Decided) => void
}) {
  const asked = visible(JSON.stringify(args, null, 2) ?? '')
  const [edited, setEdited] = useState<string>()
  const [reason, setReason] = useState('')
  const [isWrong, setWrong] = useState(false)
  const decide = (decision: Decided['decision']) => {
    const why = reason.trim()
    const said = { decision, ...(why !== '' && { reason: why }) }
    setWrong(false)
    if (decision === 'deny' || edited === undefined || edited === asked) return take(said)
    try {
      take({ ...said, editedArgs: JSON.parse(edited) })
    } catch {
      setWrong(true)
    }
  }
  return (
    <>
      {editable && edited === undefined && (
        <button type="button" onClick={() => setEdited(asked)}>
          Edit the arguments
        </button>
      )}
      {edited !== undefined && (
        <label>
          Arguments, as JSON
          <textarea
            rows={6}
            spellcheck={false}
            value={edited}
            onInput={({ currentTarget }) => setEdited(currentTarget.value)}
          />
        </label>
      )}
      <label>
        Reason (optional)
        <input value={reason} onInput={({ currentTarget }) => setReason(currentTarget.value)} />
      </label>
      {isWrong && <Notice kind="error">The arguments are no JSON.</Notice>}
      <p class="actions">
        <button type="button" class="main" disabled={isBusy} onClick={() => decide('approve')}>
          Approve
        </button>
        <button type="button" disabled={isBusy} onClick={() => decide('deny')}>
          Deny
        </button>
      </p>
    </>
  )
}
