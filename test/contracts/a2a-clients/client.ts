/** What the cases of all clients need. */
import { expect } from 'vitest'
import { eventually } from '../../eventually.ts'
import { notes } from '../fixture/record.ts'
import type { Service } from './service.ts'

export { gates } from './service.ts'

export const TOKEN = 'token-of-ann'

/** Two services: one for everybody, and one for those with {@link TOKEN}. */
export interface Services {
  readonly open: () => Service
  readonly locked: () => Service
}

export const gateOf = (): string => `gate-${crypto.randomUUID()}`

/** Waits until the agent has noted this. */
export async function noted(note: string): Promise<void> {
  await eventually(() => expect(notes).toContain(note))
}

/** The error of a call. */
export const failure = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    value => expect.unreachable(`it gives ${JSON.stringify(value)}`),
    error => error,
  )
