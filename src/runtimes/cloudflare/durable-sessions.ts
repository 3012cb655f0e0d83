import type { SessionKeeper, SessionKey } from '../../agents/memory.ts'
import { idOf, type SessionSettings } from '../../runs/sessions.ts'
import { sha256 } from '../../web/digest.ts'
import { findBindings } from './bindings.ts'

/** Keeps each session in an object of its own, which forgets it by alarm: nobody counts those of one owner. */
export function createDurableSessions({
  maxSessions,
  maxSessionMessages,
  maxSessionLength,
  sessionRetentionMs,
}: SessionSettings): SessionKeeper {
  // All other options stay here: not every one may cross RPC.
  const settings = { maxSessions, maxSessionMessages, maxSessionLength, sessionRetentionMs }
  const objectOf = async (key: SessionKey) =>
    findBindings().index.getByName(`session:${await sha256(idOf(key))}`)
  return {
    // As JSON: what another program wrote need not be what crosses RPC.
    read: async key => JSON.parse(await (await objectOf(key)).readSession(key)),
    append: async (key, messages) =>
      (await objectOf(key)).appendSession(key, JSON.stringify(messages), settings),
  }
}
