/** Limits that no measured run reaches. */

import type { HostSettings } from '../src/runs/stored/host.ts'

export const SETTINGS: HostSettings = {
  production: true,
  timeoutMs: 600_000,
  maxEvents: 1_000_000,
  maxLength: 100_000_000,
  maxBytes: 100_000_000,
  disconnect: 'continue',
  maxFollowers: 100,
  maxRunning: 10_000,
  maxRunningPerOwner: 10_000,
  retentionMs: 86_400_000,
}
