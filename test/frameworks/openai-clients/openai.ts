/** The SDK of OpenAI, in three majors. Their types differ in what nobody uses here, so the newest stand for all. */
import OpenAI from 'openai'
import OpenAI5 from 'openai-5'
import OpenAI6 from 'openai-6'
import { type Asked, DESCRIPTION, PARAMETERS, type Paint, SCHEMA, type Way } from './way.ts'

export const MAJORS = [OpenAI5, OpenAI6, OpenAI] as unknown as (typeof OpenAI)[]

type Message = OpenAI.ChatCompletionMessageParam
type Items = OpenAI.Responses.ResponseInput

function messagesOf({ text, image }: Asked): Message[] {
  const content: OpenAI.ChatCompletionContentPart[] = [{ type: 'text', text }]
  if (image !== undefined) content.push({ type: 'image_url', image_url: { url: image, detail: 'low' } })
  return [{ role: 'user', content: image === undefined ? text : content }]
}

const name = 'paint'

const toolOf = (paint: Paint) => ({
  type: 'function' as const,
  function: {
    name,
    description: DESCRIPTION,
    parameters: PARAMETERS,
    parse: (text: string): Parameters<Paint>[0] => JSON.parse(text),
    function: (args: Parameters<Paint>[0]) => paint(args),
  },
})

const response_format = {
  type: 'json_schema' as const,
  json_schema: { name: 'weight', schema: SCHEMA, strict: true },
}

/** Chat Completions tell thoughts in a field that the SDK does not know. */
function thoughtIn(message: object | undefined): string {
  const { reasoning_content: text } = (message ?? {}) as { reasoning_content?: string | null }
  return text ?? ''
}

export function chat(sdk: OpenAI): Way {
  const { completions } = sdk.chat
  return {
    async ask(asked) {
      const { model, signal } = asked
      const answer = await completions.create({ model, messages: messagesOf(asked) }, { signal })
      const [choice] = answer.choices
      return {
        text: choice?.message.content ?? '',
        reasoning: thoughtIn(choice?.message),
        usage: [answer.usage?.prompt_tokens, answer.usage?.completion_tokens],
        finish: choice?.finish_reason,
      }
    },
    async stream(asked, onText) {
      const { model, signal } = asked
      const stream_options = { include_usage: true }
      const stream = completions.stream({ model, messages: messagesOf(asked), stream_options }, { signal })
      let reasoning = ''
      for await (const { choices } of stream) {
        const [choice] = choices
        reasoning += thoughtIn(choice?.delta)
        if (choice?.delta.content) onText?.(choice.delta.content)
      }
      const answer = await stream.finalChatCompletion()
      const [choice] = answer.choices
      return {
        text: choice?.message.content ?? '',
        reasoning,
        usage: [answer.usage?.prompt_tokens, answer.usage?.completion_tokens],
        finish: choice?.finish_reason,
      }
    },
    async converse(model, first, second) {
      const messages: Message[] = []
      const say = async (content: string) => {
        messages.push({ role: 'user', content })
        const { choices } = await completions.create({ model, messages })
        if (choices[0]) messages.push(choices[0].message)
        return choices[0]?.message.content ?? ''
      }
      await say(first)
      return say(second)
    },
    async withTool(asked, paint) {
      const { model } = asked
      const runner = completions.runTools({ model, messages: messagesOf(asked), tools: [toolOf(paint)] })
      return (await runner.finalContent()) ?? ''
    },
    async streamWithTool(asked, paint) {
      const tools = [toolOf(paint)]
      const { model } = asked
      const runner = completions.runTools({ model, messages: messagesOf(asked), tools, stream: true })
      return (await runner.finalContent()) ?? ''
    },
    async object(asked) {
      const { model } = asked
      const answer = await completions.parse({ model, messages: messagesOf(asked), response_format })
      return answer.choices[0]?.message.parsed
    },
    async streamObject(asked) {
      const { model } = asked
      const stream = completions.stream({ model, messages: messagesOf(asked), response_format })
      return JSON.parse((await stream.finalChatCompletion()).choices[0]?.message.content ?? '')
    },
  }
}

function itemsOf({ text, image }: Asked): string | Items {
  if (image === undefined) return text
  const content: OpenAI.Responses.ResponseInputContent[] = [{ type: 'input_text', text }]
  if (image !== undefined) content.push({ type: 'input_image', image_url: image, detail: 'auto' })
  return [{ role: 'user', content }]
}

const tools: OpenAI.Responses.FunctionTool[] = [
  { type: 'function', name, description: DESCRIPTION, parameters: PARAMETERS, strict: true },
]

const text = {
  format: { type: 'json_schema' as const, name: 'weight', schema: SCHEMA, strict: true },
}

/** The results of the calls of a response. */
function painted({ output }: OpenAI.Responses.Response, paint: Paint): Items {
  return output.flatMap(item =>
    item.type === 'function_call' && item.name === name
      ? [
          {
            type: 'function_call_output',
            call_id: item.call_id,
            output: paint(JSON.parse(item.arguments)),
          } as const,
        ]
      : [],
  )
}

// Streams of 5 leave `output_text` out.
function answeredBy({ output, usage, status }: OpenAI.Responses.Response) {
  const contents = output.flatMap(item => (item.type === 'message' ? item.content : []))
  const thoughts = output.flatMap(item => (item.type === 'reasoning' ? item.summary : []))
  return {
    text: contents.map(part => (part.type === 'output_text' ? part.text : '')).join(''),
    reasoning: thoughts.map(({ text }) => text).join(''),
    usage: [usage?.input_tokens, usage?.output_tokens] as const,
    finish: status,
  }
}

export function responses(sdk: OpenAI): Way {
  const { responses } = sdk
  return {
    async ask(asked) {
      const { model, signal } = asked
      return answeredBy(await responses.create({ model, input: itemsOf(asked) }, { signal }))
    },
    async stream(asked, onText) {
      const { model, signal } = asked
      const stream = responses.stream({ model, input: itemsOf(asked) }, { signal })
      stream.on('response.output_text.delta', ({ delta }) => onText?.(delta))
      return answeredBy(await stream.finalResponse())
    },
    async converse(model, first, second) {
      const input: Items = []
      const say = async (content: string) => {
        input.push({ role: 'user', content })
        const { output, output_text } = await responses.create({ model, input })
        input.push(...(output as Items))
        return output_text
      }
      await say(first)
      return say(second)
    },
    // Answers with the id of the response before.
    async withTool(asked, paint) {
      const { model } = asked
      const first = await responses.create({ model, input: itemsOf(asked), tools })
      const input = painted(first, paint)
      const last = await responses.create({ model, input, previous_response_id: first.id, tools })
      return last.output_text
    },
    // Tells all items again, and no id.
    async streamWithTool(asked, paint) {
      const { model } = asked
      const say = (input: Items) => responses.stream({ model, input, tools }).finalResponse()
      const input: Items = [{ role: 'user', content: asked.text }]
      const first = await say(input)
      input.push(...(first.output as Items), ...painted(first, paint))
      return answeredBy(await say(input)).text
    },
    async object(asked) {
      const { model } = asked
      return (await responses.parse({ model, input: itemsOf(asked), text })).output_parsed
    },
    async streamObject(asked) {
      const { model } = asked
      const stream = responses.stream({ model, input: itemsOf(asked), text })
      return JSON.parse(answeredBy(await stream.finalResponse()).text)
    },
    async sayBoth(model, first, second) {
      const { id } = await responses.create({ model, input: first })
      return (await responses.create({ model, input: second, previous_response_id: id })).output_text
    },
    async approve(asked, decide) {
      const { model } = asked
      const first = await responses.create({ model, input: itemsOf(asked) })
      const input = first.output.flatMap(item =>
        item.type === 'mcp_approval_request'
          ? [
              {
                type: 'mcp_approval_response',
                approval_request_id: item.id,
                approve: decide(JSON.parse(item.arguments)),
              } as const,
            ]
          : [],
      )
      return (await responses.create({ model, input, previous_response_id: first.id })).output_text
    },
  }
}
