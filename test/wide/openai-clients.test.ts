/** Stock clients of OpenAI's interface against the service, on Node and on workerd. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keptCases } from '../contracts/openai-clients/responses.ts'
import { KEY } from '../contracts/openai-clients/server.ts'
import { leaving, type Traits, wayCases } from '../contracts/openai-clients/ways.ts'
import { served } from '../contracts/served.ts'
import type { Sdk, Way } from '../frameworks/openai-clients/way.ts'
import { type Installed, install } from '../frameworks/served-framework.ts'
import { type Deploy, deploymentsOf } from '../runtimes/deployments.ts'
import { ELSEWHERE } from '../tags.ts'

/** What `openai-clients/clients.ts` exports. */
interface Clients {
  waysTo(baseURL: string, apiKey: string): Readonly<Record<string, Way>>
  sdksTo(baseURL: string, apiKey: string): readonly Sdk[]
}

const WAYS: Readonly<Record<string, Traits>> = {
  'openai 5, chat': { thinks: true },
  'openai 5, responses': { thinks: true, goesOn: true },
  'openai 6, chat': { thinks: true },
  'openai 6, responses': { thinks: true, goesOn: true },
  'openai 7, chat': { thinks: true },
  'openai 7, responses': { thinks: true, goesOn: true },
  '@openai/agents, chat': {},
  '@openai/agents, responses': { thinks: true, goesOn: true },
  '@langchain/openai, chat': { thinks: true },
  '@langchain/openai, responses': { thinks: true, goesOn: true, isDeaf: true },
  '@ai-sdk/openai, chat': {},
  '@ai-sdk/openai, responses': { thinks: true, goesOn: true },
  '@ai-sdk/openai-compatible': { thinks: true },
  '@ai-sdk/open-responses': { thinks: true },
}

let installed: Installed
let clients: Clients
beforeAll(async () => {
  installed = await install('openai-clients', [])
  clients = await import(join(installed.folder, 'test/frameworks/openai-clients/clients.ts'))
})
afterAll(() => installed?.remove())

const { nodeInMemory, workerd } = deploymentsOf('openai-clients')

describe('Node, in memory', () => clientCases(nodeInMemory))

describe('workerd, in Durable Objects', ELSEWHERE, () => clientCases(workerd))

it('clients have types that fit', () => installed.check())

function clientCases(deploy: Deploy): void {
  const server = served(() => deploy(''))
  const base = () => `${server().url}/v1`

  // workerd sees at its next keep-alive that a client has left: meanwhile the others have their turn.
  let left: Promise<PromiseSettledResult<object>[]>
  beforeAll(() => {
    left = Promise.allSettled([leaving(clients.waysTo(base(), KEY), server)])
  })

  describe.each(Object.entries(WAYS))('%s', (name, traits) => {
    const way = (key: string) => clients.waysTo(base(), key)[name] as Way
    wayCases(
      traits,
      () => way(KEY),
      () => way('wrong'),
      server,
    )
  })

  describe.each([5, 6, 7])('responses that are kept, with openai %i', major => {
    const sdk = (key: string) => clients.sdksTo(base(), key)[major - 5] as Sdk
    keptCases(
      () => sdk(KEY),
      () => sdk('bob'),
      server,
    )
  })

  it('is asked beside A2A, whose paths are below the same one', async () => {
    const text = { role: 'ROLE_USER', content: [{ text: 'Ann' }] }
    const body = JSON.stringify({ message: { messageId: '1', ...text } })
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` }
    const post = (path: string) => fetch(`${base()}/${path}`, { method: 'POST', headers, body })
    expect(await (await post('message:send')).json()).toMatchObject({
      task: { artifacts: expect.anything() },
    })
    expect(await (await post('conversations')).json()).toMatchObject({ error: { code: 'not_found' } })
  })

  it('stops the run of a client that leaves', async () => {
    const [fates] = await left
    const isLeft = { pieces: ['I wait. '], outcome: 'it was left' }
    const value = Object.fromEntries(Object.keys(WAYS).map(name => [name, isLeft]))
    expect(fates).toEqual({ status: 'fulfilled', value })
  })
}
