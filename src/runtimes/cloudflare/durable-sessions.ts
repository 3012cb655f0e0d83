import type { MemoryKeeper, SessionKey } from '../../agents/memory.ts'
import type { SessionSettings } from '../../runs/sessions.ts'
import { sha256 } from '../../web/digest.ts'
import { findBindings } from './bindings.ts'

/** Keeps each session in an object of its own, which forgets it by alarm. */
export function createDurableSessions({
  maxSessionMessages,
  sessionRetentionMs,
}: SessionSettings): Pick<MemoryKeeper, 'read' | 'append'> {
  const objectOf = async ({ owner, kind, name, sessionId }: SessionKey) => {
    const digest = await sha256(JSON.stringify([owner, kind, name, sessionId]))
    return findBindings().index.getByName(`session:${digest}`)
  }
  return {
    // As JSON: what another program wrote need not be what crosses RPC.
    read: async key => JSON.parse(await (await objectOf(key)).readSession(key)),
    append: async (key, messages) =>
      (await objectOf(key)).appendSession(key, JSON.stringify(messages), {
        maxSessionMessages,
        sessionRetentionMs,
      }),
  }
}
