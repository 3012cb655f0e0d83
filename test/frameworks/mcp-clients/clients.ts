/** The clients, by name. */
import * as ai from './ai-sdk.ts'
import * as two from './client-2.ts'
import * as one from './sdk-1.ts'
import type { Connect, Place, SigningIn } from './way.ts'

export { READING } from './reading.ts'
export { tasksAt } from './tasks.ts'

/** Every way to connect. */
export const WAYS: Readonly<Record<string, Connect>> = {
  'client 2, 2026-07-28': two.connecting(two.modern),
  'client 2, whatever there is': two.connecting(two.auto),
  'client 2, 2025-11-25': two.connecting(two.legacy('2025-11-25')),
  'client 2, 2025-06-18': two.connecting(two.legacy('2025-06-18')),
  'client 2, 2025-03-26': two.connecting(two.legacy('2025-03-26')),
  'sdk 1, 2025-11-25': one.connecting('2025-11-25'),
  'sdk 1, 2025-06-18': one.connecting('2025-06-18'),
  'sdk 1, 2025-03-26': one.connecting('2025-03-26'),
  '@ai-sdk/mcp 1': ai.connecting(ai.MAJORS[0]),
  '@ai-sdk/mcp 2': ai.connecting(ai.MAJORS[1]),
}

/** Those that sign in. */
export const SIGNING_IN: Readonly<Record<string, () => SigningIn>> = {
  'client 2, 2026-07-28': () => two.signingIn(two.modern),
  'client 2, 2025-11-25': () => two.signingIn(two.legacy('2025-11-25')),
  'sdk 1': one.signingIn,
  '@ai-sdk/mcp 1': () => ai.signingIn(ai.MAJORS[0]),
  '@ai-sdk/mcp 2': () => ai.signingIn(ai.MAJORS[1]),
}

/** Has a model call tools, with each major of the AI SDK's client. */
export function modelCalls(place: Place, names: readonly string[]): Promise<unknown[]> {
  return Promise.all(ai.MAJORS.map(major => ai.modelCalls(major, place, names)))
}
