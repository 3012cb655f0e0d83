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
  runs_not_stored: 'Give the service a `state` to store runs.',
  input_not_kept: 'Set `runs.keepInput` to keep the inputs of runs.',
}

/** An error, with its code. `absent` is the text if the service does not have the requested data. */
export function Failure({ error, absent }: { error: unknown; absent?: string }) {
  const code = codeOf(error)
  const advice = code === 'not_found' ? absent : code && ADVICE[code]
  if (advice !== undefined && code === 'not_found') return <Notice>{advice}</Notice>
  return (
    <Notice kind="error">
      {messageOf(error)} {code && <code>{code}</code>} {advice}
    </Notice>
  )
}
