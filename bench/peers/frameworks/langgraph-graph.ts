/** The echo as a graph of LangGraph: one node, which calls a chat model in the process. */

import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { echo } from '../echo.ts'

class EchoModel extends BaseChatModel {
  _llmType(): string {
    return 'echo'
  }

  async _generate(messages: BaseMessage[], { signal }: this['ParsedCallOptions']): Promise<ChatResult> {
    let text = ''
    for await (const piece of echo(messages.at(-1)!.text, signal)) text += piece
    return { generations: [{ text, message: new AIMessageChunk(text) }] }
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    { signal }: this['ParsedCallOptions'],
    manager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for await (const text of echo(messages.at(-1)!.text, signal)) {
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk(text) })
      yield chunk
      await manager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk })
    }
  }
}

const model = new EchoModel({})

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }, { signal }) => ({
    messages: await model.invoke(messages, { ...(signal && { signal }) }),
  }))
  .addEdge(START, 'model')
  .compile({ name: 'echo' })
