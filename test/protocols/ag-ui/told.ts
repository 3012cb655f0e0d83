/** Streams of text as clients read them. */
import { EventSchema } from '@ag-ui/core/schemas'
import { vi } from 'vitest'
import type { AgUiClient, Make } from './clients.ts'

/** An event, whatever it is. */
export interface Told {
  readonly type: string
  readonly [name: string]: unknown
}

/** The events of a stream; throws where one does not fit the schema of 1.0. */
export function eventsIn(text: string): Told[] {
  return text
    .replace(/^id: .*\n/gm, '')
    .split('\n\n')
    .filter(message => message.startsWith('data: '))
    .map(message => EventSchema.parse(JSON.parse(message.slice(6))) as unknown as Told)
}

/** Has a client read a stream. Throws what it throws, and where it warns of something. */
export async function readBy(make: Make, text: string): Promise<AgUiClient> {
  const client = make({ url: 'http://ag-ui.test/', threadId: 'thread' })
  const headers = { 'content-type': 'text/event-stream' }
  const fetching = vi
    .spyOn(globalThis, 'fetch')
    .mockImplementation(async () => new Response(text, { headers }))
  const warning = vi.spyOn(console, 'warn').mockImplementation(() => {})
  try {
    client.addMessage({ id: 'u1', role: 'user', content: 'hi' })
    await client.runAgent()
    if (warning.mock.calls.length > 0) throw new Error(`It warns: ${warning.mock.calls.join('; ')}`)
    return client
  } finally {
    fetching.mockRestore()
    warning.mockRestore()
  }
}
