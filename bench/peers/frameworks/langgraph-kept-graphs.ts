/** The three runs as graphs: a model that says pieces, a chain of nodes, and a model with a tool. */

import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'
import { DynamicTool } from '@langchain/core/tools'
import { Annotation, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { PIECES, page, piece, ROUNDS, STEPS, stepped } from '../../kept-shapes.ts'

class SpeakingModel extends BaseChatModel {
  _llmType(): string {
    return 'speaks'
  }

  async _generate(): Promise<ChatResult> {
    throw new Error('This model only streams')
  }

  override async *_streamResponseChunks(
    _messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    manager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (let index = 1; index <= PIECES; index++) {
      const text = piece(index)
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk(text) })
      yield chunk
      await manager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk })
      if (index % 20 === 0) await new Promise(resolve => setTimeout(resolve, 1))
    }
  }
}

const model = new SpeakingModel({ streaming: true } as never)

export const speaks = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }) => {
    const whole = []
    for await (const chunk of await model.stream(messages)) whole.push(chunk.text)
    return { messages: new AIMessageChunk(whole.join('')) }
  })
  .addEdge(START, 'model')
  .compile({ name: 'speaks' })

const chain = new StateGraph(Annotation.Root({ text: Annotation<string> })) as never as StateGraph<
  { text: string },
  { text: string },
  Partial<{ text: string }>,
  string
>
for (let index = 0; index < STEPS; index++) {
  chain.addNode(`step-${index}`, ({ text }) => ({ text: stepped(text, index) }))
  chain.addEdge((index === 0 ? START : `step-${index - 1}`) as never, `step-${index}`)
}
export const steps = chain.addEdge(`step-${STEPS - 1}`, END).compile({ name: 'steps' })

const reads = new DynamicTool({
  ...{ name: 'read_page', description: 'Reads a page' },
  func: async input => page(Number(input)),
})

export const calls = new StateGraph(MessagesAnnotation)
  .addNode('model', ({ messages }) => {
    const round = messages.filter(({ type }) => type === 'tool').length + 1
    const call = { name: 'read_page', args: { input: String(round) }, id: `call-${round}` }
    return { messages: new AIMessageChunk(round > ROUNDS ? 'Read.' : { content: '', tool_calls: [call] }) }
  })
  .addNode('tools', new ToolNode([reads]))
  .addEdge(START, 'model')
  .addConditionalEdges('model', ({ messages }) => (messages.at(-1)!.text === 'Read.' ? END : 'tools'))
  .addEdge('tools', 'model')
  .compile({ name: 'calls' })
