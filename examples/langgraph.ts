/** A graph of LangGraph behind a handler: `npm install @langchain/langgraph @langchain/openai @langchain/core zod`. */
import { tool } from '@langchain/core/tools'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'
import { toAgent } from '../src/adapters/frameworks/index.ts'
import { createHandler } from '../src/index.ts'

const get_weather = tool(({ city }) => `It is sunny in ${city}`, {
  name: 'get_weather',
  description: 'The weather in a city',
  schema: z.object({ city: z.string() }),
})

const model = new ChatOpenAI({ model: 'gpt-5-mini' }).bindTools([get_weather])

const weather = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }) => ({ messages: await model.invoke(messages) }))
  .addNode('tools', new ToolNode([get_weather]))
  .addEdge(START, 'model')
  .addConditionalEdges('model', toolsCondition)
  .addEdge('tools', 'model')
  // A run's `sessionId` is a thread of the graph, which is kept in the state of the handler.
  .compile({ name: 'weather' })

export const handler = createHandler({
  serve: [toAgent(weather, { description: 'Tells the weather' })],
})
