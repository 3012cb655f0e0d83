import type { RunSummary } from '../../src/client/index.ts'

const SIGNS: Readonly<Record<string, string>> = {
  running: '●',
  completed: '✓',
  input_required: '?',
  answered: '↷',
  failed: '✗',
  cancelled: '■',
}

type Answerable = Pick<RunSummary, 'status' | 'continuedBy' | 'resumable'>

/** The status of a run: a symbol and a word, so that it does not depend on colour. */
export function Status({ run: { status, continuedBy, resumable } }: { run: Answerable }) {
  const shown = status === 'input_required' && (continuedBy || resumable) ? 'answered' : status
  return (
    <span class={`status ${shown}`}>
      <span aria-hidden="true">{SIGNS[shown]}</span> {shown === 'input_required' ? 'waits' : shown}
    </span>
  )
}
