import { useState } from 'preact/hooks'
import type { InputRequest } from '../../src/agents/contract.ts'
import { Notice } from '../parts/notice.tsx'
import { visible } from '../text.ts'
import { misfitIn } from './schema.ts'

/** The decision about an approval. */
export interface Decided {
  readonly decision: 'approve' | 'deny'
  readonly reason?: string
  readonly editedArgs?: unknown
}

/** The buttons that approve or deny. The arguments can be edited if the agent allows that. */
export function Decision({
  request: { args, editable, schema },
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
  const [wrong, setWrong] = useState<string>()
  const decide = (decision: Decided['decision']) => {
    const why = reason.trim()
    const decided = { decision, ...(why !== '' && { reason: why }) }
    setWrong(undefined)
    if (decision === 'deny' || edited === undefined || edited === asked) return take(decided)
    const read = argsIn(edited, schema)
    if ('wrong' in read) setWrong(read.wrong)
    else take({ ...decided, editedArgs: read.args })
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
      {wrong !== undefined && <Notice kind="error">{wrong}</Notice>}
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

/** The arguments in a text, or the reason why it is invalid. */
function argsIn(text: string, schema: unknown): { readonly args: unknown } | { readonly wrong: string } {
  try {
    const args: unknown = JSON.parse(text)
    const misfit = misfitIn(args, schema)
    return misfit === undefined ? { args } : { wrong: `The tool does not take these arguments. ${misfit}.` }
  } catch {
    return { wrong: 'This is not JSON. Look for a missing quote, comma or bracket.' }
  }
}
