import { describe, expect, it } from 'vitest'
import { run, type Server, stream } from './client.ts'

interface Seen {
  readonly apiKey: string | null
  readonly apiKeys: Readonly<Record<string, string>>
}

type Fields = Readonly<Record<string, string>>

const headerOf = (provider: string) => `x-provider-${provider}-api-key`
const other: Fields = { a: 'b', b: 'c', c: 'a' }

/** The last four characters of each key that the agent saw. */
async function seen(server: Server, agent: string, headers: Fields, apiKey?: string): Promise<Seen> {
  const body = { input: 'x', ...(apiKey !== undefined && { apiKey }) }
  return (await run(server, `/api/agents/${agent}/run`, body, headers)).structured as Seen
}

/** Every combination of the four places for a key. */
const choices = Array.from({ length: 16 }, (_, bits) => ({
  matching: (bits & 1) > 0,
  foreign: (bits & 2) > 0,
  generic: (bits & 4) > 0,
  body: (bits & 8) > 0,
}))

function fieldsOf(provider: string, choice: (typeof choices)[number]): Fields {
  return {
    ...(choice.matching && { [headerOf(provider)]: 'sk-test-SPEC' }),
    ...(choice.foreign && { [headerOf(other[provider] ?? '')]: 'sk-test-ELSE' }),
    ...(choice.generic && { 'x-api-key': 'sk-test-GENR' }),
  }
}

function expected({ matching, generic, body }: (typeof choices)[number]): string | null {
  if (matching) return 'SPEC'
  if (generic) return 'GENR'
  return body ? 'BODY' : null
}

export function keyCases(server: Server): void {
  describe('provider keys', () => {
    it.each(['a', 'b', 'c'])('go by matching header, then `x-api-key`, then the body: %s', async provider => {
      const seenKeys = choices.map(choice =>
        seen(
          server,
          `keys-${provider}`,
          fieldsOf(provider, choice),
          choice.body ? 'sk-test-BODY' : undefined,
        ),
      )
      expect((await Promise.all(seenKeys)).map(({ apiKey }) => apiKey)).toEqual(choices.map(expected))
    })

    it.each([
      ['keys-a-embedding', 'x-provider-a-api-key'],
      ['keys-b', 'x-provider-b-api-key'],
      ['keys-b-hosted', 'x-provider-b-api-key'],
      ['keys-acme', 'x-acme-api-key'],
    ])('reach every variant of their provider: %s', async (agent, header) => {
      const headers = { [header]: 'sk-test-SPEC', 'x-api-key': 'sk-test-GENR' }
      expect((await seen(server, agent, headers)).apiKey).toBe('SPEC')
    })

    it.each(['keys-other', 'keys-none', 'keys-like-a'])(
      'of a provider reach no agent of another: %s',
      async agent => {
        const specific = { 'x-provider-a-api-key': 'sk-test-SPEC', 'x-acme-api-key': 'sk-test-ACME' }
        expect((await seen(server, agent, specific)).apiKey).toBeNull()
        expect((await seen(server, agent, { ...specific, 'x-api-key': 'sk-test-GENR' })).apiKey).toBe('GENR')
        expect((await seen(server, agent, specific, 'sk-test-BODY')).apiKey).toBe('BODY')
      },
    )

    it('all reach the agent, by provider', async () => {
      const headers = {
        'x-provider-a-api-key': 'sk-test-AAAA',
        'x-provider-b-api-key': 'sk-test-BBBB',
        'x-provider-c-api-key': 'sk-test-CCCC',
        'x-acme-api-key': 'sk-test-ACME',
        'x-api-key': 'sk-test-GENR',
      }
      const { apiKey, apiKeys } = await seen(server, 'keys-b', headers, 'sk-test-BODY')
      expect(apiKey).toBe('BBBB')
      expect(apiKeys).toEqual({
        'provider-a': 'AAAA',
        'provider-b': 'BBBB',
        'provider-c': 'CCCC',
        acme: 'ACME',
        'acme-cloud': 'ACME',
        '*': 'GENR',
      })
    })

    it('are as many as the request has: none without any', async () => {
      expect(await seen(server, 'keys-a', {})).toEqual({ apiKey: null, apiKeys: {} })
      expect(await seen(server, 'keys-a', { 'x-provider-a-api-key': '' })).toEqual({
        apiKey: null,
        apiKeys: {},
      })
    })

    it('reach streams as well', async () => {
      const headers = { 'x-provider-c-api-key': 'sk-test-CCCC' }
      const { events } = await stream(server, '/api/agents/keys-c/stream', { input: 'x' }, headers)
      expect(events.at(-1)).toMatchObject({ structured: { apiKey: 'CCCC' } })
    })

    it('do not stay for the next request', async () => {
      await seen(server, 'keys-a', { 'x-provider-a-api-key': 'sk-test-SPEC' }, 'sk-test-BODY')
      expect((await seen(server, 'keys-a', {})).apiKey).toBeNull()
    })

    it('belong to the matching header whatever the case of its name', async () => {
      expect((await seen(server, 'keys-a', { 'X-Provider-A-API-Key': 'sk-test-SPEC' })).apiKey).toBe('SPEC')
    })
  })
}
