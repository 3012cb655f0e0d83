/** `@modelcontextprotocol/sdk` 1: the revisions before 2026-07-28. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  type CallToolResult,
  ElicitRequestSchema,
  type JSONRPCMessage,
} from '@modelcontextprotocol/sdk/types.js'
import { Memory } from './memory.ts'
import type { Connect, Connected, SigningIn } from './way.ts'

const info = { name: 'test', version: '1.0.0' }

/** Offers a revision of its own: the client knows the newest alone, and takes those before from a service. */
class Transport extends StreamableHTTPClientTransport {
  offered: string | undefined
  agreed: string | undefined

  override send(message: JSONRPCMessage): Promise<void> {
    const isBegin = 'method' in message && message.method === 'initialize'
    if (!isBegin || this.offered === undefined) return super.send(message)
    return super.send({ ...message, params: { ...message.params, protocolVersion: this.offered } })
  }

  override setProtocolVersion(version: string): void {
    this.agreed = version
    super.setProtocolVersion(version)
  }
}

export const connecting =
  (revision: string): Connect =>
  async ({ url, token, say }) => {
    const client = new Client(info, { capabilities: say ? { elicitation: {} } : {} })
    if (say) client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({ ...say(params) }))
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    const transport = new Transport(new URL(url), { requestInit })
    transport.offered = revision
    await client.connect(transport as Parameters<Client['connect']>[0])
    return connected(client, transport)
  }

function connected(client: Client, transport: Transport): Connected {
  return {
    revision: transport.agreed,
    instructions: client.getInstructions(),
    tools: async () => (await client.listTools()).tools,
    call: async (name, args, { signal, timeout, onProgress } = {}) =>
      (await client.callTool({ name, arguments: args }, undefined, {
        ...(signal && { signal }),
        ...(timeout && { timeout }),
        ...(onProgress && {
          resetTimeoutOnProgress: true,
          onprogress: ({ progress, message }) => onProgress(progress, message),
        }),
      })) as CallToolResult,
    close: () => client.close(),
  }
}

export function signingIn(): SigningIn {
  const authProvider = new Memory()
  const transport = (url: string) => new Transport(new URL(url), { authProvider })
  return {
    async ask(url) {
      await new Client(info).connect(transport(url) as Parameters<Client['connect']>[0]).catch(() => {})
      if (authProvider.sentTo === undefined) throw new Error('nobody is asked for permission')
      return authProvider.sentTo
    },
    async finish(url, code) {
      await transport(url).finishAuth(code)
      const [client, chosen] = [new Client(info), transport(url)]
      await client.connect(chosen as Parameters<Client['connect']>[0])
      return connected(client, chosen)
    },
  }
}
