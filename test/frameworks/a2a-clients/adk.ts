/** `RemoteA2AAgent` of `@google/adk`. */
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client'
import {
  type BaseAgent,
  InMemoryRunner,
  RemoteA2AAgent,
  type RemoteA2AAgentConfig,
  SequentialAgent,
  setLogger,
} from '@google/adk'
import { cancel, factoryOf } from './factory.ts'
import type { Adk, AdkEvent, AdkOptions, AdkTalk, Part, Place, Update } from './way.ts'

// It prints the errors that its events have.
setLogger(null)

async function configOf(place: Place, options: AdkOptions = {}): Promise<Partial<RemoteA2AAgentConfig>> {
  const { isStreaming, onSent, onUpdate } = options
  const card = await new DefaultAgentCardResolver().resolve(place.url)
  const capabilities = { ...card.capabilities, ...(isStreaming !== undefined && { streaming: isStreaming }) }
  return {
    agentCard: { ...card, capabilities },
    clientFactory: factoryOf(place),
    beforeRequestCallbacks: [(_, { message }) => onSent?.(message.parts as Part[])],
    afterRequestCallbacks: [(_, update) => onUpdate?.(update as Update)],
  }
}

async function talkWith(agent: BaseAgent): Promise<AdkTalk> {
  const about = { appName: 'asker', userId: 'ann' }
  const runner = new InMemoryRunner({ agent, appName: about.appName })
  const { id: sessionId } = await runner.sessionService.createSession(about)
  return {
    async say(said, abortSignal) {
      const parts = typeof said === 'string' ? [{ text: said }] : said
      const newMessage = { role: 'user', parts }
      const turn = { userId: about.userId, sessionId, newMessage, ...(abortSignal && { abortSignal }) }
      const events: AdkEvent[] = []
      for await (const event of runner.runAsync(turn)) events.push(event as AdkEvent)
      return events
    },
    async kept() {
      const session = await runner.sessionService.getSession({ ...about, sessionId })
      return (session?.events ?? []) as AdkEvent[]
    },
  }
}

export const adk: Adk = {
  cancel,
  async talk(place, options) {
    return talkWith(new RemoteA2AAgent({ name: 'remote', ...(await configOf(place, options)) }))
  },
  plain: url => talkWith(new RemoteA2AAgent({ name: 'remote', agentCard: url })),
  async sequence(place) {
    const config = await configOf(place)
    const subAgents = ['first', 'second'].map(name => new RemoteA2AAgent({ name, ...config }))
    return talkWith(new SequentialAgent({ name: 'both', subAgents }))
  },
}
