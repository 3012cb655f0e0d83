/** `@langchain/openai`, with both interfaces. */
import {
  type AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
  type UsageMetadata,
} from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { type Asked, DESCRIPTION, PARAMETERS, type Paint, SCHEMA, type Way } from './way.ts'

function messagesOf({ text, image }: Asked): BaseMessage[] {
  const pictures = image === undefined ? [] : [{ type: 'image_url', image_url: { url: image } }]
  return [new HumanMessage({ content: image === undefined ? text : [{ type: 'text', text }, ...pictures] })]
}

const tools = [
  {
    type: 'function' as const,
    function: { name: 'paint', description: DESCRIPTION, parameters: PARAMETERS },
  },
]

interface Kept {
  readonly reasoning?: { readonly summary: readonly { readonly text: string }[] }
  readonly reasoning_content?: string
  readonly tool_outputs?: readonly {
    readonly type: string
    readonly id: string
    readonly arguments: string
  }[]
}

function answeredBy(message: AIMessage | AIMessageChunk) {
  const { reasoning, reasoning_content } = message.additional_kwargs as Kept
  const { finish_reason, status } = message.response_metadata as { finish_reason?: string; status?: string }
  const { input_tokens, output_tokens } = (message.usage_metadata ?? {}) as Partial<UsageMetadata>
  return {
    text: message.text,
    reasoning: reasoning_content ?? reasoning?.summary.map(({ text }) => text).join('') ?? '',
    usage: [input_tokens, output_tokens] as const,
    finish: finish_reason ?? status,
  }
}

function painted({ tool_calls = [] }: AIMessage | AIMessageChunk, paint: Paint): ToolMessage[] {
  return tool_calls.map(({ id = '', args }) => {
    const { of } = args as { of: string }
    return new ToolMessage({ tool_call_id: id, content: paint({ of }) })
  })
}

function way(modelOf: (name: string) => ChatOpenAI): Way {
  const joined = async (stream: AsyncIterable<AIMessageChunk>, onText?: (piece: string) => void) => {
    let all: AIMessageChunk | undefined
    for await (const chunk of stream) {
      if (chunk.text !== '') onText?.(chunk.text)
      all = all?.concat(chunk) ?? chunk
    }
    if (all === undefined) throw new Error('nothing was streamed')
    return all
  }
  const weigher = (model: string) =>
    modelOf(model).withStructuredOutput(SCHEMA, { name: 'weight', method: 'jsonSchema' })
  return {
    async ask(asked) {
      const { model, signal } = asked
      return answeredBy(await modelOf(model).invoke(messagesOf(asked), signal && { signal }))
    },
    async stream(asked, onText) {
      const { model, signal } = asked
      const stream = await modelOf(model).stream(messagesOf(asked), signal && { signal })
      return answeredBy(await joined(stream, onText))
    },
    async converse(name, first, second) {
      const model = modelOf(name)
      const answer = await model.invoke(first)
      return (await model.invoke([new HumanMessage(first), answer, new HumanMessage(second)])).text
    },
    async withTool(asked, paint) {
      const model = modelOf(asked.model).bindTools(tools)
      const first = await model.invoke(messagesOf(asked))
      return (await model.invoke([...messagesOf(asked), first, ...painted(first, paint)])).text
    },
    async streamWithTool(asked, paint) {
      const model = modelOf(asked.model).bindTools(tools)
      const first = await joined(await model.stream(messagesOf(asked)))
      const rest = [...messagesOf(asked), first, ...painted(first, paint)]
      return (await joined(await model.stream(rest))).text
    },
    object(asked) {
      return weigher(asked.model).invoke(messagesOf(asked))
    },
    async streamObject(asked) {
      let last: unknown
      for await (const object of await weigher(asked.model).stream(messagesOf(asked))) last = object
      return last
    },
  }
}

// It runs again whatever the service says of that, unless it is told not to.
const maxRetries = 0

export function chat(baseURL: string, apiKey: string): Way {
  return way(model => new ChatOpenAI({ model, apiKey, maxRetries, configuration: { baseURL } }))
}

export function responses(baseURL: string, apiKey: string): Way {
  const configuration = { baseURL }
  const modelOf = (model: string) =>
    new ChatOpenAI({ model, apiKey, useResponsesApi: true, maxRetries, configuration })
  return {
    ...way(modelOf),
    // LangChain reads no object from a stream of Responses.
    streamObject: undefined,
    async sayBoth(name, first, second) {
      const model = modelOf(name)
      const { response_metadata } = await model.invoke(first)
      return (await model.invoke(second, { previous_response_id: String(response_metadata.id) })).text
    },
    async approve(asked, decide) {
      const model = modelOf(asked.model)
      const first = await model.invoke(messagesOf(asked))
      const { tool_outputs = [] } = first.additional_kwargs as Kept
      const content = tool_outputs.flatMap(item =>
        item.type === 'mcp_approval_request'
          ? [
              {
                type: 'mcp_approval_response',
                approval_request_id: item.id,
                approve: decide(JSON.parse(item.arguments)),
              },
            ]
          : [],
      )
      const previous_response_id = String(first.response_metadata.id)
      return (await model.invoke([new HumanMessage({ content })], { previous_response_id })).text
    },
  }
}
