/** Stock clients of Anthropic's interface against the service, on Node and on workerd. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../contracts/http/client.ts'
import { own } from '../contracts/runs/client.ts'
import { served } from '../contracts/served.ts'
import { eventually } from '../eventually.ts'
import { fences } from '../pages/pages.ts'
import { type Deploy, deploymentsOf } from '../runtimes/deployments.ts'
import { ELSEWHERE } from '../tags.ts'
import type { Way } from './anthropic-clients/way.ts'
import { type Installed, install } from './served-framework.ts'

interface Clients {
  waysTo(baseURL: string, apiKey: string): Readonly<Record<string, Way>>
  modelsOf(baseURL: string, apiKey: string): Promise<readonly [string[], number]>
}

/** Clients that try again by themselves ask for no objects. */
const WAYS = {
  '@anthropic-ai/sdk 1': { triesAgain: true },
  '@anthropic-ai/sdk 1, without threads': { triesAgain: true },
  '@anthropic-ai/sdk 0': { triesAgain: true },
  '@ai-sdk/anthropic': { triesAgain: false },
  '@langchain/anthropic': { triesAgain: false },
}

let installed: Installed
let clients: Clients
beforeAll(async () => {
  installed = await install('anthropic-clients', [])
  clients = await import(join(installed.folder, 'test/frameworks/anthropic-clients/clients.ts'))
})
afterAll(() => installed?.remove())

const { nodeInMemory, workerd } = deploymentsOf('anthropic-clients')

describe('Node, in memory', () => clientCases(nodeInMemory))

describe('workerd, in Durable Objects', ELSEWHERE, () => clientCases(workerd))

it('clients have types that fit, and so has what the page shows', async () => {
  const shown = fences.find(({ text }) => text.startsWith('// framework-anthropic-sdk.ts\n'))
  await writeFile(join(installed.folder, 'examples/shown.ts'), shown?.text ?? expect.unreachable())
  await installed.check()
})

function clientCases(deploy: Deploy): void {
  const server = served(() => deploy(''))
  const base = () => `${server().url}/anthropic`
  const tell = async (input: string, agent = 'tells') =>
    (await run(server, `/api/agents/${agent}/run`, { input }, { authorization: 'Bearer ann' })).text

  it('lists models and counts tokens', async () => {
    const [ids, tokens] = await clients.modelsOf(base(), 'ann')
    expect(ids).toContain('says')
    expect(tokens).toBeGreaterThan(0)
  })

  describe.each(Object.entries(WAYS))('%s', (name, { triesAgain }) => {
    const way = (key = 'ann') => clients.waysTo(base(), key)[name] as Way

    it('gets an answer, whole and in pieces', async () => {
      expect(await way().ask('says', 'Ann')).toBe('Hello, Ann!')
      expect(await way().stream('says', 'Ann')).toMatchObject({ text: 'Hello, Ann!', tokens: 4 })
    })

    it('shows thoughts, and takes no tool of the service for its own', async () => {
      expect(await way().stream('thinks', 'x')).toMatchObject({
        text: 'Here it is.',
        reasoning: 'Let me see.',
      })
      expect(await way().ask('looks', 'x')).toBe('I look. 21 degrees.')
      expect(await way().stream('looks', 'x')).toMatchObject({ text: 'I look. 21 degrees.' })
    })

    it('tells what was said before, whatever the service has thought and done', async () => {
      expect(await way().converse('mulls', 'one', 'two')).toMatch(
        /^I look\. two after one, I look\. \n?one after $/,
      )
    })

    it('runs its own tools', async () => {
      const painted: string[] = []
      const text = await way().withTool('wall door', of => {
        painted.push(of)
        return `red ${of}`
      })
      expect([painted.toSorted(), text]).toEqual([['door', 'wall'], 'Painted red wall, red door.'])
    })

    it('is told why it is refused, once', async () => {
      const input = own('refused')
      await expect(way().ask('refuses', input)).rejects.toThrow('Internal server error')
      expect(await tell(input)).toBe('1')
      await expect(way().ask('nobody', 'x')).rejects.toThrow('no model named')
      await expect(way('wrong').ask('says', 'x')).rejects.toThrow('Not authorized')
    })

    it(`${triesAgain ? 'asks again' : 'is told'} when there were too many requests`, async () => {
      const answer = way(`busy-${own('key')}`).ask('says', 'Ann')
      if (triesAgain) expect(await answer).toBe('Hello, Ann!')
      else await expect(answer).rejects.toThrow()
    })

    it('is told that a run failed in the middle, once', async () => {
      const input = own('broken')
      await expect(way().stream('breaks', input)).rejects.toThrow()
      expect(await tell(input)).toBe('1')
    })

    if (!triesAgain)
      it('gets an object of an agent that gives one', async () => {
        expect(await way().object?.('weighs')).toEqual({ grams: 12 })
        await expect(way().object?.('says')).rejects.toThrow()
      })

    it('stops the run that it leaves', async () => {
      const input = own('waits')
      await way().leave(input)
      await eventually(async () => expect(await tell(input)).toBe('stopped'))
    })
  })
}
