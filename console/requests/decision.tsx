import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { InputRequest } from '../../src/agents/contract.ts'
import { JsonView } from '../parts/json-view.tsx'
import { Modal } from '../parts/modal.tsx'
import { hasKeys, useKey } from '../shell/press.ts'
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
  keys = false,
  children,
  error,
}: {
  request: InputRequest
  isBusy: boolean
  take: (decided: Decided) => void
  /** Whether keys decide: `a` approves, and `d` asks for a reason and denies. */
  keys?: boolean
  /** Content before the arguments. */
  children?: ComponentChildren
  /** Content between the fields and the buttons. */
  error?: ComponentChildren
}) {
  const form = useForm(id, schema, 'Arguments', { value: args })
  const [reason, setReason] = useState('')
  const hint = keys && hasKeys.value
  const changes = editable ? form.changed.length : 0
  const decide = (decision: Decided['decision']) => {
    const decided = decisionOf(decision, reason)
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
        <button
          type="button"
          class="main"
          disabled={isBusy}
          aria-keyshortcuts={hint ? 'a' : undefined}
          onClick={() => decide('approve')}
        >
          {changes === 0
            ? 'Approve'
            : `Approve with ${number(changes)} ${changes === 1 ? 'change' : 'changes'}`}
        </button>
        <button
          type="button"
          disabled={isBusy}
          aria-keyshortcuts={hint ? 'd' : undefined}
          onClick={() => decide('deny')}
        >
          Deny
        </button>
      </p>
      {keys && <Keys isBusy={isBusy} approve={() => decide('approve')} take={take} />}
    </>
  )
}

/** The keys that decide. The reason of a denial is asked for. */
function Keys({
  isBusy,
  approve,
  take,
}: {
  isBusy: boolean
  approve: () => void
  take: (decided: Decided) => void
}) {
  const isAsking = useSignal(false)
  useKey('a', () => isBusy || approve())
  useKey('d', () => {
    isAsking.value = !isBusy
  })
  return (
    <Modal isOpen={isAsking} label="Deny it" kind="deny">
      <DenyForm
        close={() => {
          isAsking.value = false
        }}
        take={take}
      />
    </Modal>
  )
}

/** Asks for the reason of a denial. */
function DenyForm({ close, take }: { close: () => void; take: (decided: Decided) => void }) {
  const [reason, setReason] = useState('')
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        close()
        take(decisionOf('deny', reason))
      }}
    >
      <h2>Deny it</h2>
      <label>
        Reason for the agent (optional)
        <input value={reason} onInput={({ currentTarget }) => setReason(currentTarget.value)} />
      </label>
      <p class="actions">
        <button type="submit" class="main">
          Deny
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </p>
    </form>
  )
}

/** A decision with its reason, if there is one. */
export function decisionOf(decision: Decided['decision'], reason: string): Decided {
  const why = reason.trim()
  return { decision, ...(why !== '' && { reason: why }) }
}
