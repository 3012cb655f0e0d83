/** `@ai-sdk/mcp`: what it lists becomes tools of the AI SDK. */
import { auth, createMCPClient, ElicitationRequestSchema, type MCPClient } from '@ai-sdk/mcp'
import { generateText, type ModelMessage, stepCountIs, type ToolSet } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { Memory } from './memory.ts'
import type { Connect, Connected, Place, Result, SigningIn } from './way.ts'

export const connecting: Connect = async ({ url, token, say }) => {
  const headers = { authorization: `Bearer ${token}` }
  const client = await createMCPClient({
    transport: { type: 'http', url, headers },
    capabilities: say ? { elicitation: {} } : {},
  })
  if (say) client.onElicitationRequest(ElicitationRequestSchema, ({ params }) => ({ ...say(params) }))
  return connected(client)
}

function connected(client: MCPClient): Connected {
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

export function signingIn(): SigningIn {
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
export async function modelCalls(place: Place, names: readonly string[]): Promise<readonly ModelMessage[]> {
  const headers = { authorization: `Bearer ${place.token}` }
  const client = await createMCPClient({ transport: { type: 'http', url: place.url, headers } })
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
