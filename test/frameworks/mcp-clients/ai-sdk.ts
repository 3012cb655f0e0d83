/**
 * `@ai-sdk/mcp`, in two majors: 1 knows the revisions before 2026-07-28, and 2 begins with that one. What they list becomes tools
 * of the AI SDK.
 */
import * as two from '@ai-sdk/mcp'
import * as one from '@ai-sdk/mcp-1'
import { generateText, type ModelMessage, stepCountIs, type ToolSet } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { Memory } from './memory.ts'
import type { Connect, Connected, Place, Result, SigningIn } from './way.ts'

type Major = typeof two

/** Their types differ in what nobody uses here, so the newest stand for both. */
export const MAJORS = [one, two] as unknown as [Major, Major]

export const connecting =
  ({ createMCPClient, ElicitationRequestSchema }: Major): Connect =>
  async ({ url, token, say }) => {
    const headers = { authorization: `Bearer ${token}` }
    const client = await createMCPClient({
      transport: { type: 'http', url, headers },
      capabilities: say ? { elicitation: {} } : {},
    })
    if (say) client.onElicitationRequest(ElicitationRequestSchema, ({ params }) => ({ ...say(params) }))
    return connected(client)
  }

function connected(client: two.MCPClient): Connected {
  return {
    // It does not tell.
    revision: undefined,
    instructions: client.instructions,
    tools: async () => (await client.listTools()).tools,
    async call(name, args, { signal } = {}) {
      // It does not know tools whose names it has not been told.
      const definitions = { tools: [{ name, inputSchema: { type: 'object' as const } }] }
      const tool = client.toolsFromDefinitions(definitions)[name]
      return (await tool?.execute(args, {
        toolCallId: '1',
        messages: [],
        ...(signal && { abortSignal: signal }),
      } as unknown as Parameters<typeof tool.execute>[1])) as Result
    },
    close: () => client.close(),
  }
}

export function signingIn({ auth, createMCPClient }: Major): SigningIn {
  const authProvider = new Memory()
  const connect = (url: string) => createMCPClient({ transport: { type: 'http', url, authProvider } })
  return {
    async ask(url) {
      await connect(url).catch(() => {})
      if (authProvider.sentTo === undefined) throw new Error('nobody is asked for permission')
      return authProvider.sentTo
    },
    async finish(url, code) {
      await auth(authProvider, { serverUrl: url, authorizationCode: code })
      return connected(await connect(url))
    },
  }
}

/** Has a model call the tools of a service, all at once. Gives the messages that the calls come to. */
export async function modelCalls(
  { createMCPClient }: Major,
  { url, token }: Place,
  names: readonly string[],
): Promise<readonly ModelMessage[]> {
  const headers = { authorization: `Bearer ${token}` }
  const client = await createMCPClient({ transport: { type: 'http', url, headers } })
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  }
  const calls = names.map(toolName => ({
    type: 'tool-call' as const,
    toolCallId: toolName,
    toolName,
    input: '{"input":"Ann"}',
  }))
  const model = new MockLanguageModelV4({
    doGenerate: {
      content: calls,
      finishReason: { unified: 'tool-calls', raw: undefined },
      usage,
      warnings: [],
    },
  })
  const tools = (await client.tools()) as unknown as ToolSet
  const { response } = await generateText({ model, tools, prompt: 'x', stopWhen: stepCountIs(1) })
  await client.close()
  return response.messages
}
