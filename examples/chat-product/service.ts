import { createClient } from 'servable/client'

export const { sessions } = createClient({ baseUrl: '/api' })
export type List = Awaited<ReturnType<typeof sessions.list>>['sessions']
export type Turns = Awaited<ReturnType<typeof sessions.messages>>['turns']

/** A new conversation has none. */
export const turnsOf = async (id: string): Promise<Turns> =>
  (await sessions.messages('assistant', id).catch(() => undefined))?.turns ?? []
