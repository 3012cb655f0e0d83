/** An agent's model that needs no network: it asks for one tool, then for another, then says what the last one gave. */

import type { LanguageModel } from 'ai'

type Model = Extract<LanguageModel, { specificationVersion: 'v4' }>
type Prompt = Parameters<Model['doStream']>[0]['prompt']
type Result = Awaited<ReturnType<Model['doGenerate']>>
type Content = Result['content'][number]
type Part = Awaited<ReturnType<Model['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never

/** The names of the two tools. Each takes `{ text }` and gives `{ text }`. */
export const TOOL_NAMES = ['look_up', 'check'] as const
/** What both tools do. */
export const upper = async ({ text }: { readonly text: string }): Promise<{ text: string }> => ({
  text: text.toUpperCase(),
})

const usage: Result['usage'] = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
}

/** The text of a message of the user, or of a tool's result. */
function textIn({ content }: Prompt[number]): string {
  const [part] = content
  if (typeof part !== 'object') return ''
  if (part.type === 'text') return part.text
  return part.type === 'tool-result' && part.output.type === 'json'
    ? String(Object(part.output.value).text)
    : ''
}

/** The last text of the user or of a tool, and how many tools were called since the user spoke. */
function stateOf(prompt: Prompt): { readonly text: string; readonly called: number } {
  const turn = prompt.slice(prompt.findLastIndex(({ role }) => role === 'user'))
  const results = turn.filter(({ role }) => role === 'tool')
  return { text: textIn(results.at(-1) ?? turn[0]!), called: results.length }
}

function contentOf(prompt: Prompt): Content {
  const { text, called } = stateOf(prompt)
  const toolName = TOOL_NAMES[called]
  if (toolName === undefined) return { type: 'text', text }
  return { type: 'tool-call', toolCallId: `call-${called}`, toolName, input: JSON.stringify({ text }) }
}

function reasonOf({ type }: Content): Result['finishReason'] {
  return { unified: type === 'text' ? 'stop' : 'tool-calls', raw: undefined }
}

function partsOf(content: Content): Part[] {
  const said: Part[] =
    content.type === 'text'
      ? [
          { type: 'text-start', id: 't' },
          { type: 'text-delta', id: 't', delta: content.text.slice(0, 3) },
          { type: 'text-delta', id: 't', delta: content.text.slice(3) },
          { type: 'text-end', id: 't' },
        ]
      : [content as Extract<Content, { type: 'tool-call' }>]
  const finish: Part = { type: 'finish', finishReason: reasonOf(content), usage }
  return [{ type: 'stream-start', warnings: [] }, ...said, finish]
}

/** Keeps nothing, so any number of runs may share it. */
export const scriptedModel: Model = {
  specificationVersion: 'v4',
  provider: 'scripted',
  modelId: 'two-tools',
  supportedUrls: {},
  async doGenerate({ prompt }) {
    const content = contentOf(prompt)
    return { content: [content], finishReason: reasonOf(content), usage, warnings: [] }
  },
  async doStream({ prompt }) {
    const parts = partsOf(contentOf(prompt))
    return {
      stream: new ReadableStream<Part>({
        start(controller) {
          for (const part of parts) controller.enqueue(part)
          controller.close()
        },
      }),
    }
  },
}
