/** The contract of model-backed agents, which holds on every runtime and with every state. The server is `ai/service.ts`. */
import { expect, it } from 'vitest'
import { calls, drops, hangs, refuses, says, startProvider } from '../adapters/model-agent/provider.ts'
import { eventually } from '../eventually.ts'
import { jsonRequest, run, stream } from './http/client.ts'
import { as, type Deployment, own, post } from './runs/client.ts'
import { served } from './served.ts'

const RUN = '/api/agents/helper/run'
const STREAM = '/api/agents/helper/stream'

/** The whole contract. `deploy` gets the provider's address. */
export function aiContract(deploy: (provider: string) => Promise<Deployment>): void {
  const provider = served(startProvider)
  let running: Deployment | undefined
  const server = served(async () => {
    // The provider has started before this.
    running = await deploy(provider().url)
    return running
  })

  it('streams, calls tools and tells what it used', async () => {
    provider().script(calls(['weather_forecast', {}]), says('Sun', 'ny'))
    const { events } = await stream(server, STREAM, { input: 'The weather?' })
    const types = events.map(({ type }) => type).filter(type => type !== 'tool_call_delta')
    // Where it is stored that a call begins, the model's call may end before that one.
    const said = types.filter(type => type !== 'model_call')
    expect(said).toEqual(['tool_call_start', 'tool_call_ready', 'tool_call_end', 'text', 'text', 'finish'])
    expect(types.filter(type => type === 'model_call')).toHaveLength(2)
    expect(types.at(-2)).toBe('model_call')
    expect(events.at(-1)).toMatchObject({ usage: { totalTokens: 20 } })
    expect(provider().asked[0]?.authorization).toBe('Bearer key-of-the-server')
  })

  it('uses the key of a client for its run alone, also where the run is a stored one', async () => {
    provider().script(says('ok'))
    for (const background of [false, true]) {
      await run(server, RUN, { input: 'Hi', background }, { 'x-provider-a-api-key': 'key-of-a-client' })
      expect(provider().asked.at(-1)?.authorization).toBe('Bearer key-of-a-client')
      await run(server, RUN, { input: 'Hi', background })
      expect(provider().asked.at(-1)?.authorization).toBe('Bearer key-of-the-server')
    }
  })

  it('remembers its session and what was corrected', async () => {
    const sessionId = own('session')
    provider().script(says('First'))
    await run(server, RUN, { input: 'One', sessionId })
    await run(server, RUN, { input: 'Two', sessionId, background: true })
    expect(
      provider()
        .asked.at(-1)
        ?.body.messages.map(({ content }) => content),
    ).toEqual(['One', 'First', 'Two'])
    const correction = { originalValue: 'Oslo', correctedValue: 'Bergen' }
    const ada = as(own('ada'))
    for (const headers of [ada, {}]) {
      expect((await post(server, '/api/agents/helper/corrections', correction, headers)).status).toBe(201)
    }
    await run(server, RUN, { input: 'Three' }, ada)
    expect(provider().asked.at(-1)?.body.messages[0]?.content).toContain('"correctedValue":"Bergen"')
    await run(server, RUN, { input: 'Four' })
    expect(provider().asked.at(-1)?.body.messages).toEqual([{ role: 'user', content: 'Four' }])
  })

  it('tries again, and then fails with nothing of the provider’s text', async () => {
    const now = { 'retry-after': '0' }
    provider().script(refuses(429, 'busy', now), refuses(503, 'busy', now), says('at last'))
    expect((await run(server, RUN, { input: 'Hi' })).text).toBe('at last')
    provider().script(refuses(400, 'text of the vault'))
    const failed = await post(server, RUN, { input: 'Hi' })
    expect([failed.status, JSON.parse(failed.text).code]).toEqual([502, 'provider_failed'])
    provider().script(drops('Half'))
    const { events } = await stream(server, STREAM, { input: 'Hi' })
    expect(events).toMatchObject([{ text: 'Half' }, { type: 'error', code: 'provider_failed' }])
    provider().script(says('alive'))
    expect((await run(server, RUN, { input: 'Hi' })).text).toBe('alive')
  })

  it('leaves the provider when its client leaves', async () => {
    provider().script(hangs('Wait'))
    const leaving = new AbortController()
    const { body } = await fetch(`${server().url}${STREAM}`, {
      ...jsonRequest({ input: 'Hi' }),
      signal: leaving.signal,
    })
    await body?.getReader().read()
    await eventually(() => expect(provider().asked).toHaveLength(1))
    leaving.abort()
    await eventually(() => expect(provider().asked[0]?.hasLeft).toBe(true))
  })

  it('leads a team', async () => {
    provider().script(calls(['ask_helper', { input: 'Help' }]), says('Helped'), says('Done'))
    const { text, toolCalls } = await run(server, '/api/teams/desk/run', { input: 'Do it' })
    expect([text, toolCalls[0]?.result]).toEqual(['Done', 'Helped'])
  })
}
