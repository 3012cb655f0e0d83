/** What people see of a status. */
import type { RunSummary } from '../../src/client/index.ts'

/** A status: its shape, its word, and its colour. */
export interface Look {
  readonly shape: 'good' | 'bad' | 'wait' | 'live' | 'queue' | 'off' | 'on'
  readonly word: string
}

const LOOKS: Readonly<Record<string, Look>> = {
  completed: { shape: 'good', word: 'Done' },
  failed: { shape: 'bad', word: 'Failed' },
  input_required: { shape: 'wait', word: 'Waiting' },
  answered: { shape: 'good', word: 'Answered' },
  running: { shape: 'live', word: 'Running' },
  queued: { shape: 'queue', word: 'Queued' },
  cancelled: { shape: 'off', word: 'Stopped' },
  connected: { shape: 'good', word: 'Connected' },
  connecting: { shape: 'live', word: 'Connecting' },
  disconnected: { shape: 'off', word: 'Off' },
  error: { shape: 'bad', word: 'Failing' },
  delivered: { shape: 'good', word: 'Delivered' },
  pending: { shape: 'queue', word: 'Waiting' },
  on: { shape: 'good', word: 'On' },
  off: { shape: 'off', word: 'Off' },
  revoked: { shape: 'off', word: 'Revoked' },
  expired: { shape: 'off', word: 'Expired' },
  within: { shape: 'good', word: 'Enough left' },
  nearly_used: { shape: 'wait', word: 'Nearly used up' },
  used_up: { shape: 'bad', word: 'Used up' },
}

/** What decides whether a run still waits. */
export type Answerable = Pick<RunSummary, 'status' | 'continuedBy' | 'resumable'>

/** The status of a run as people see it: one that was answered waits no longer. */
export function shownStatus({ status, continuedBy, resumable }: Answerable): string {
  return status === 'input_required' && (continuedBy || resumable) ? 'answered' : status
}

/** How a status looks. */
export function lookOf(status: string): Look {
  return LOOKS[status] ?? { shape: 'off', word: status }
}
