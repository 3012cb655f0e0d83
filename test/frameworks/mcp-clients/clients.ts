/** The clients, by name. */
import * as ai from './ai-sdk.ts'
import * as two from './client-2.ts'
import * as one from './sdk-1.ts'
import type { Connect, SigningIn } from './way.ts'

export { modelCalls } from './ai-sdk.ts'
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
  '@ai-sdk/mcp': ai.connecting,
}

/** Those that sign in. */
export const SIGNING_IN: Readonly<Record<string, () => SigningIn>> = {
  'client 2, 2026-07-28': () => two.signingIn(two.modern),
  'client 2, 2025-11-25': () => two.signingIn(two.legacy('2025-11-25')),
  'sdk 1': one.signingIn,
  '@ai-sdk/mcp': ai.signingIn,
}
