import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/index.ts'

describe('runs.all', () => {
  it('goes on after a page that is empty and has a cursor', async () => {
    const pages: Record<string, { runs: { id: string }[]; nextCursor: string | null }> = {
      '': { runs: [], nextCursor: 'one' },
      one: { runs: [{ id: 'a' }], nextCursor: 'two' },
      two: { runs: [], nextCursor: 'three' },
      three: { runs: [{ id: 'b' }], nextCursor: null },
    }
    const client = createClient({
      baseUrl: 'http://127.0.0.1/api',
      fetch: async (input: RequestInfo | URL) => {
        const { searchParams } = new URL(input instanceof Request ? input.url : input)
        expect(searchParams.get('status')).toBe('failed')
        return Response.json(pages[searchParams.get('cursor') ?? ''])
      },
    })
    const ids: string[] = []
    for await (const { id } of client.runs.all({ status: 'failed' })) ids.push(id)
    expect(ids).toEqual(['a', 'b'])
  })
})
