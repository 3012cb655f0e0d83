import { describe, expect, it } from 'vitest'
import { forwarded, readForwarded } from '../../../../src/protocols/event-socket/gateway/forwarded.ts'

const ask = (identity: { readonly id: string; readonly role?: string }) =>
  forwarded(
    new Request('http://agents.example/socket.io/', {
      headers: { 'x-servable-identity': '%7B%22id%22%3A%22root%22%7D' },
    }),
    { identity },
    'gateway:0',
  )

describe('what the object of a socket gets', () => {
  it('has all members of the identity, whatever the client sent', () => {
    const identity = { id: 'ada', role: 'ä "b"\n'.repeat(100) }
    expect(readForwarded(ask(identity).headers).identity).toEqual(identity)
  })

  it('has a bound', () => {
    expect(() => ask({ id: 'ada', role: 'x'.repeat(9000) })).toThrow(
      expect.objectContaining({
        code: 'internal_error',
        message: expect.stringContaining('8192 characters'),
      }),
    )
  })
})
