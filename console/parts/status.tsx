import type { RunRecord } from '../../src/client/index.ts'

const SIGNS: Readonly<Record<string, string>> = {
  running: '●',
  completed: '✓',
  input_required: '?',
  failed: '✗',
  cancelled: '■',
}

/** The status of a run: a sign and a word, so that it does not depend on a colour. */
export function Status({ status }: { status: RunRecord['status'] }) {
  return (
    <span class={`status ${status}`}>
      <span aria-hidden="true">{SIGNS[status]}</span> {status.replace('_', ' ')}
    </span>
  )
}
