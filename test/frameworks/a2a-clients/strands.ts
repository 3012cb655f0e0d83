/** `A2AAgent` of `@strands-agents/sdk`. */
import { type AgentResult, Graph } from '@strands-agents/sdk'
import { A2AAgent } from '@strands-agents/sdk/a2a'
import { cancel, factoryOf } from './factory.ts'
import type { Place, Strands, Update } from './way.ts'

const agentAt = (place: Place, id = 'remote') =>
  new A2AAgent({ id, url: place.url, clientFactory: factoryOf(place) })

const textOf = ({ lastMessage }: Pick<AgentResult, 'lastMessage'>): string =>
  lastMessage.content.map(block => (block.type === 'textBlock' ? block.text : '')).join('')

export const strands: Strands = {
  cancel,
  async *stream(place, input) {
    const events = agentAt(place).stream(input)
    try {
      for (;;) {
        const { done, value } = await events.next()
        if (done) return textOf(value)
        if (value.type === 'a2aStreamUpdateEvent') yield value.event as Update
      }
    } finally {
      await events.return(undefined as never)
    }
  },
  async plain(url, input) {
    const agent = new A2AAgent({ url })
    const answer = textOf(await agent.invoke(input))
    return { answer, name: agent.name, description: agent.description }
  },
  async graph(place, input) {
    const nodes = [agentAt(place, 'first'), agentAt(place, 'second')]
    const { status, results } = await new Graph({ nodes, edges: [['first', 'second']] }).invoke(input)
    const answers = results.map(({ content }) =>
      content.map(block => (block.type === 'textBlock' ? block.text : '')).join(''),
    )
    return { status, answers }
  },
}
