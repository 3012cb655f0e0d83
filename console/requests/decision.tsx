import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { InputRequest } from '../../src/agents/contract.ts'
import { JsonView } from '../parts/json-view.tsx'
import { number } from '../text.ts'
import { Fields } from './fields.tsx'
import { useForm } from './form.ts'

/** The decision about an approval. */
export interface Decided {
  readonly decision: 'approve' | 'deny'
  readonly reason?: string
  readonly editedArgs?: unknown
}

/** The arguments of a call, and the buttons that approve or deny it. The arguments are a form if the agent allows changes. */
export function Decision({
  request: { id, args, editable, schema, toolName },
  isBusy,
  take,
  children,
  error,
}: {
  request: InputRequest
  isBusy: boolean
  take: (decided: Decided) => void
  /** Content before the arguments. */
  children?: ComponentChildren
  /** Content between the fields and the buttons. */
  error?: ComponentChildren
}) {
  const form = useForm(id, schema, 'Arguments', { value: args })
  const [reason, setReason] = useState('')
  const changes = editable ? form.changed.length : 0
  const decide = (decision: Decided['decision']) => {
    const why = reason.trim()
    const decided = { decision, ...(why !== '' && { reason: why }) }
    if (decision === 'deny' || changes === 0) return take(decided)
    const read = form.read()
    if (read) take({ ...decided, editedArgs: read.value })
  }
  return (
    <>
      <div class="form">
        {children}
        {editable ? <Fields form={form} /> : <JsonView value={args} label={`arguments of ${toolName}`} />}
        <label>
          Reason for the agent (optional)
          <input value={reason} onInput={({ currentTarget }) => setReason(currentTarget.value)} />
        </label>
        {error}
      </div>
      <p class="actions decide">
        <button type="button" class="main" disabled={isBusy} onClick={() => decide('approve')}>
          {changes === 0
            ? 'Approve'
            : `Approve with ${number(changes)} ${changes === 1 ? 'change' : 'changes'}`}
        </button>
        <button type="button" disabled={isBusy} onClick={() => decide('deny')}>
          Deny
        </button>
      </p>
    </>
  )
}
