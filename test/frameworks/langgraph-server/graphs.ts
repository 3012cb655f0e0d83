/** The agents of the checks as graphs, for LangGraph's own server. */
import { setTimeout as wait } from 'node:timers/promises'
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, AIMessageChunk, type BaseMessage, ToolMessage } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'
import {
  END,
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'

/** What the model says next: pieces of text, or one call. */
interface Said {
  readonly text?: readonly string[]
  readonly call?: { readonly name: string; readonly args: object }
  /** Milliseconds before each piece. */
  readonly ms?: number
  readonly error?: string
}

/** A model that says what it is told to. */
class Model extends BaseChatModel {
  readonly #say: (messages: readonly BaseMessage[]) => Said

  constructor(say: (messages: readonly BaseMessage[]) => Said) {
    super({})
    this.#say = say
  }

  override _llmType(): string {
    return 'fake'
  }

  override async _generate(): Promise<ChatResult> {
    throw new Error('It streams')
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    manager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const { text = [], call, ms = 0, error } = this.#say(messages)
    const id = `msg_${crypto.randomUUID()}`
    for (const piece of text) {
      if (ms > 0) await wait(ms, undefined, { signal: options.signal })
      const message = new AIMessageChunk({ id, content: piece })
      yield new ChatGenerationChunk({ message, text: piece })
      await manager?.handleLLMNewToken(piece, undefined, undefined, undefined, undefined, {
        chunk: new ChatGenerationChunk({ message, text: piece }),
      })
    }
    if (error !== undefined) throw new Error(error)
    if (call === undefined) return
    const args = JSON.stringify(call.args)
    const callId = `call_${crypto.randomUUID()}`
    for (const [at, piece] of ['', args.slice(0, 4), args.slice(4)].entries()) {
      const first = at === 0 ? { id: callId, name: call.name } : {}
      const message = new AIMessageChunk({
        id,
        content: '',
        tool_call_chunks: [{ index: 0, args: piece, type: 'tool_call_chunk', ...first }],
      })
      yield new ChatGenerationChunk({ message, text: '' })
      await manager?.handleLLMNewToken('', undefined, undefined, undefined, undefined, {
        chunk: new ChatGenerationChunk({ message, text: '' }),
      })
    }
  }
}

type State = typeof MessagesAnnotation.State

const textOf = (message: BaseMessage | undefined) => message?.text ?? ''

const words = (text: string) => text.split(/(?<= )/)

/** Answers with what the model says, once. */
const agentOf = (say: (messages: readonly BaseMessage[]) => Said) => {
  const model = new Model(say)
  return async ({ messages }: State, config: LangGraphRunnableConfig) => {
    let whole: AIMessageChunk | undefined
    for await (const chunk of await model.stream(messages, config))
      whole = whole === undefined ? chunk : whole.concat(chunk)
    return { messages: whole === undefined ? [] : [whole] }
  }
}

/** Goes to the tools after a call. */
const hasCall = ({ messages }: State) =>
  ((messages.at(-1) as AIMessage | undefined)?.tool_calls?.length ?? 0) > 0 ? 'tools' : END

const lastHuman = (messages: readonly BaseMessage[]) =>
  textOf(messages.findLast(message => message.getType() === 'human'))

const countOf = (messages: readonly BaseMessage[]) =>
  messages.filter(message => message.getType() === 'human').length

const ofTool = (messages: readonly BaseMessage[]) =>
  messages.at(-1)?.getType() === 'tool' ? textOf(messages.at(-1)) : undefined

const callIn = ({ messages }: State) => {
  const call = (messages.at(-1) as AIMessage).tool_calls?.[0]
  if (call === undefined) throw new Error('There is no call')
  return { name: call.name, args: call.args, id: call.id ?? '' }
}

/** Says what it was told, and how many messages of the user there are. Asks a tool for the weather. */
export const talks = new StateGraph(MessagesAnnotation)
  .addNode(
    'agent',
    agentOf(messages => {
      const result = ofTool(messages)
      if (result !== undefined) return { text: words(`It is ${result}.`) }
      const text = lastHuman(messages)
      if (text.includes('weather')) return { call: { name: 'get_weather', args: { city: 'Paris' } } }
      return { text: words(`You said ${text}, message ${countOf(messages)}.`) }
    }),
  )
  .addNode('tools', (state: State, config: LangGraphRunnableConfig) => {
    const { name, args, id } = callIn(state)
    config.writer?.({ progress: `asking ${args.city}` })
    return {
      messages: [
        new ToolMessage({ id: `tool_${id}`, tool_call_id: id, name, content: `21C in ${args.city}` }),
      ],
    }
  })
  .addEdge(START, 'agent')
  .addConditionalEdges('agent', hasCall, ['tools', END])
  .addEdge('tools', 'agent')
  .compile()

interface Decision {
  readonly type: 'approve' | 'edit' | 'reject'
  readonly message?: string
  readonly edited_action?: { readonly args: { readonly amount: number } }
}

/** Pays an amount, after an approval. */
export const pays = new StateGraph(MessagesAnnotation)
  .addNode(
    'agent',
    agentOf(messages => {
      const result = ofTool(messages)
      if (result !== undefined) {
        const isDenied = result.startsWith('The call was denied')
        return { text: words(isDenied ? `I have not: ${result}` : `I have ${result}.`) }
      }
      return { call: { name: 'pay', args: { amount: Number(lastHuman(messages)) } } }
    }),
  )
  .addNode('tools', (state: State) => {
    const { name, args, id } = callIn(state)
    const answer = interrupt({
      action_requests: [{ name, args, description: `Tool execution requires approval\n\nTool: ${name}` }],
      review_configs: [{ action_name: name, allowed_decisions: ['approve', 'edit', 'reject'] }],
    })
    const [decision] = (answer as { readonly decisions: readonly Decision[] }).decisions
    const amount = decision?.edited_action?.args.amount ?? args.amount
    const reason = decision?.message === undefined ? '' : `: ${decision.message}`
    const content = decision?.type === 'reject' ? `The call was denied${reason}` : `paid ${amount}`
    // As LangChain's middleware does, the call has the arguments that were edited.
    const asked = state.messages.at(-1)
    const edited = new AIMessage({
      ...{ id: asked?.id ?? '', content: '' },
      tool_calls: [{ name, args: { amount }, id, type: 'tool_call' }],
    })
    return { messages: [edited, new ToolMessage({ id: `tool_${id}`, tool_call_id: id, name, content })] }
  })
  .addEdge(START, 'agent')
  .addConditionalEdges('agent', hasCall, ['tools', END])
  .addEdge('tools', 'agent')
  .compile()

/** Asks for a size. */
export const asks = new StateGraph(MessagesAnnotation)
  .addNode('agent', async ({ messages }: State, config: LangGraphRunnableConfig) => {
    const size = interrupt({ question: 'Which size?', options: ['S', 'M'] })
    const said = agentOf(() => ({ text: words(`${lastHuman(messages)} in ${size}.`) }))
    return said({ messages }, config)
  })
  .addEdge(START, 'agent')
  .addEdge('agent', END)
  .compile()

/** Fails in the middle of its answer. */
export const fails = new StateGraph(MessagesAnnotation)
  .addNode(
    'agent',
    agentOf(() => ({ text: ['Half '], error: 'model exploded' })),
  )
  .addEdge(START, 'agent')
  .addEdge('agent', END)
  .compile()

/** Longer than two silences after which a stream has a comment. */
const QUIET_MS = 12_000

/** Counts to the number in the message, 20 numbers a second. After `quiet` it says nothing for a while. */
export const slow = new StateGraph(MessagesAnnotation)
  .addNode(
    'agent',
    agentOf(messages => {
      const text = lastHuman(messages)
      if (text === 'quiet') return { text: ['1 '], ms: QUIET_MS }
      return { text: Array.from({ length: Number(text) }, (_, at) => `${at + 1} `), ms: 50 }
    }),
  )
  .addEdge(START, 'agent')
  .addEdge('agent', END)
  .compile()
