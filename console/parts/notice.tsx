import type { ComponentChildren } from 'preact'
import { codeOf, messageOf } from '../service.ts'

/** A message to the user. */
export function Notice({
  kind = 'info',
  children,
}: {
  kind?: 'info' | 'error'
  children: ComponentChildren
}) {
  return (
    <p class={`notice ${kind}`} role={kind === 'error' ? 'alert' : undefined}>
      {children}
    </p>
  )
}

/** The option to turn on if the service lacks what a screen needs, by the error's code. */
const ADVICE: Readonly<Record<string, string>> = {
  runs_not_stored: 'To store runs, give the service a `state`.',
  input_not_kept: 'To keep the inputs of runs, set `runs.keepInput`.',
  unauthorized: 'Log in again.',
  forbidden: 'Ask an administrator for a role that may do this.',
  insufficient_scope: 'Log in with a key that may do this.',
  internal_error: 'Try again. The log of the service has the reason.',
  network_error: 'Check your connection, and try again.',
  state_unavailable: 'Try again in a moment.',
  run_not_found: 'It may have been deleted, or belong to somebody else.',
  session_not_found: 'It may have been deleted, or belong to somebody else.',
  webhook_not_found: 'It may have been deleted. Choose Refresh.',
  tool_server_not_found: 'It may have been deleted. Choose Refresh.',
  caller_key_not_found: 'It may have been deleted. Choose Refresh.',
}

/** An error, with its code. `absent` is the text if the service does not have the requested data. */
export function Failure({ error, absent }: { error: unknown; absent?: string }) {
  const code = codeOf(error)
  const advice = code === 'not_found' ? absent : code && ADVICE[code]
  if (advice !== undefined && code === 'not_found') return <Notice>{advice}</Notice>
  return (
    <Notice kind="error">
      {messageOf(error).replace(/[^.!?]$/, '$&.')} {advice} {code && <code>{code}</code>}
    </Notice>
  )
}
