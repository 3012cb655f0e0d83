/** The two formats in which the model server reads requests and streams answers. */

/** The content of a request, in either format. */
export interface Conversation {
  readonly users: string[]
  readonly images: string[]
  readonly results: string[]
}

/** Writes an answer, piece by piece. */
export interface Writer {
  text(text: string): void
  thinking(text: string): void
  call(name: string, args: object): void
  end(reason: string): void
}

export interface Api {
  read(body: unknown): Conversation
  start(body: unknown, write: (text: string) => void): Writer
}

/** The usage of every answer. */
export const TOKENS = { prompt: 7, completion: 5 }

interface Message {
  readonly role?: string
  readonly type?: string
  readonly content?: unknown
  readonly output?: unknown
  readonly tool_calls?: unknown
}

interface Part {
  readonly type: string
  readonly text?: string
  readonly image_url?: string | { readonly url: string }
}

const partsOf = (content: unknown): Part[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : ((content ?? []) as Part[])

const textIn = (content: unknown) =>
  partsOf(content)
    .map(({ text }) => text ?? '')
    .join('')

const imagesIn = (content: unknown) =>
  partsOf(content).flatMap(({ image_url: image }) =>
    image === undefined ? [] : [typeof image === 'string' ? image : image.url],
  )

function read(messages: readonly Message[], resultOf: (message: Message) => unknown): Conversation {
  const users = messages.filter(({ role }) => role === 'user')
  const newest = users.at(-1)
  const after = newest === undefined ? [] : messages.slice(messages.lastIndexOf(newest))
  return {
    users: users.map(({ content }) => textIn(content)),
    images: imagesIn(newest?.content),
    results: after.flatMap(message => resultOf(message) ?? []).map(result => textIn(result)),
  }
}

const usage = { prompt_tokens: TOKENS.prompt, completion_tokens: TOKENS.completion, total_tokens: 12 }

/** Chat completions. */
/** The number of results since the last answer without calls. Ids of calls count on from there. */
function callsBefore(body: unknown): number {
  const { messages } = body as { readonly messages: readonly Message[] }
  const answered = messages.findLastIndex(({ role, tool_calls }) => role === 'assistant' && !tool_calls)
  return messages.slice(answered + 1).filter(({ role }) => role === 'tool').length
}

export const chat: Api = {
  read: body =>
    read((body as { messages: Message[] }).messages, ({ role, content }) =>
      role === 'tool' ? content : undefined,
    ),
  start(body, write) {
    const before = callsBefore(body)
    let calls = 0
    const send = (choices: unknown[], rest = {}) => {
      const chunk = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'test', choices, ...rest }
      write(`data: ${JSON.stringify(chunk)}\n\n`)
    }
    const delta = (delta: unknown) => send([{ index: 0, delta, finish_reason: null }])
    delta({ role: 'assistant', content: '' })
    return {
      text: content => delta({ content }),
      thinking: reasoning_content => delta({ reasoning_content }),
      call(name, args) {
        const text = JSON.stringify(args)
        const index = calls++
        const id = `call_${before + calls}`
        const first = { name, arguments: text.slice(0, 4) }
        delta({ tool_calls: [{ index, id, type: 'function', function: first }] })
        delta({ tool_calls: [{ index, function: { arguments: text.slice(4) } }] })
      },
      end(finish_reason) {
        send([{ index: 0, delta: {}, finish_reason }])
        send([], { usage })
        write('data: [DONE]\n\n')
      },
    }
  },
}

/** Responses. */
export const responses: Api = {
  read: body =>
    read((body as { input: Message[] }).input, ({ type, output }) =>
      type === 'function_call_output' ? output : undefined,
    ),
  start(body, write) {
    let sequence = 0
    let { length: calls } = responses.read(body).results
    const output: object[] = []
    const send = (type: string, rest: object) =>
      write(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...rest })}\n\n`)
    const response = (status: string, rest = {}) => ({
      response: { id: 'r1', object: 'response', created_at: 1, model: 'test', status, output, ...rest },
    })
    let text = ''
    const id = 'm1'
    const add = (item: { readonly id: string }) => {
      output.push(item)
      send('response.output_item.done', { output_index: output.length - 1, item })
    }
    send('response.created', response('in_progress'))
    return {
      text(delta) {
        if (text === '') {
          const item = { id, type: 'message', role: 'assistant', status: 'in_progress', content: [] }
          send('response.output_item.added', { output_index: output.length, item })
        }
        text += delta
        send('response.output_text.delta', {
          item_id: id,
          output_index: output.length,
          content_index: 0,
          delta,
        })
      },
      thinking(delta) {
        const at = { item_id: 'rs1', output_index: output.length, summary_index: 0 }
        send('response.reasoning_summary_text.delta', { ...at, delta })
        add({ id: 'rs1', type: 'reasoning', summary: [{ type: 'summary_text', text: delta }] } as never)
      },
      call(name, args) {
        const number = ++calls
        const ids = { id: `f${number}`, call_id: `call_${number}` }
        const call = { ...ids, type: 'function_call', name, status: 'completed' }
        add({ ...call, arguments: JSON.stringify(args) } as never)
      },
      end(reason) {
        const content = [{ type: 'output_text', text, annotations: [] }]
        if (text !== '')
          add({ id, type: 'message', role: 'assistant', status: 'completed', content } as never)
        const used = { input_tokens: TOKENS.prompt, output_tokens: TOKENS.completion, total_tokens: 12 }
        const details = {
          input_tokens_details: { cached_tokens: 0 },
          output_tokens_details: { reasoning_tokens: 0 },
        }
        const cut = { length: 'max_output_tokens', content_filter: 'content_filter' }[reason]
        const status = cut === undefined ? 'completed' : 'incomplete'
        const why = cut === undefined ? {} : { incomplete_details: { reason: cut } }
        send(`response.${status}`, response(status, { usage: { ...used, ...details }, ...why }))
      },
    }
  },
}
