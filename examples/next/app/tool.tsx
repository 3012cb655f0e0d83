import { type DynamicToolUIPart, getToolName, type ToolUIPart } from 'ai'
import { useState } from 'react'
import { jsonOf } from './parts.tsx'

/** What a person has decided of a call. */
export interface Decision {
  readonly id: string
  readonly approved: boolean
  readonly reason?: string
}

interface Props {
  readonly call: ToolUIPart | DynamicToolUIPart
  readonly canAnswer: boolean
  readonly onDecide: (decision: Decision) => void
}

const STATES: Readonly<Record<Props['call']['state'], string>> = {
  'input-streaming': 'is called…',
  'input-available': 'works…',
  'approval-requested': 'needs your approval',
  'approval-responded': 'goes on…',
  'output-available': 'done',
  'output-error': 'failed',
  'output-denied': 'denied',
}

/** A call of a tool: its name, how it stands, its arguments and its result; and its approval, where one is asked. */
export function Tool({ call, canAnswer, onDecide }: Props) {
  const { state, input, output, errorText } = call
  const isAsked = state === 'approval-requested'
  return (
    <div className="tool" data-state={state}>
      {/* Whoever decides sees what is decided. */}
      <details open={isAsked || undefined}>
        <summary>
          <code>{getToolName(call)}</code> <span>{STATES[state]}</span>
        </summary>
        <Json label="Arguments" value={input} />
        <Json label="Result" value={output} />
      </details>
      {errorText !== undefined && <p role="alert">{errorText}</p>}
      {isAsked && canAnswer && (
        <Approval name={getToolName(call)} onDecide={made => onDecide({ id: call.approval.id, ...made })} />
      )}
    </div>
  )
}

function Json({ label, value }: { readonly label: string; readonly value: unknown }) {
  if (value === undefined) return null
  return (
    <>
      <small>{label}</small>
      <pre>{jsonOf(value)}</pre>
    </>
  )
}

interface ApprovalProps {
  readonly name: string
  readonly onDecide: (decision: Omit<Decision, 'id'>) => void
}

/** Enter in the reason decides nothing: only the buttons do. */
function Approval({ name, onDecide }: ApprovalProps) {
  const [reason, setReason] = useState('')
  const decide = (approved: boolean) => onDecide({ approved, ...(reason !== '' && { reason }) })
  return (
    <fieldset className="approval">
      <legend className="unseen">Approval of {name}</legend>
      <input
        aria-label="Reason"
        placeholder="Reason, if you like"
        value={reason}
        onChange={event => setReason(event.target.value)}
      />
      <button type="button" onClick={() => decide(true)}>
        Approve
      </button>
      <button type="button" onClick={() => decide(false)}>
        Deny
      </button>
    </fieldset>
  )
}
