/** `@modelcontextprotocol/client` 2: all revisions. */
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Memory } from './memory.ts'
import type { Connect, Connected, SigningIn } from './way.ts'

const MODERN = '2026-07-28'

/** Only the revision without a beginning. */
export const modern: ClientOptions = { versionNegotiation: { mode: { pin: MODERN } } }

/** Whatever the service prefers. */
export const auto: ClientOptions = { versionNegotiation: { mode: 'auto' } }

/** One of the revisions before. */
export const legacy = (revision: string): ClientOptions => ({ supportedProtocolVersions: [revision] })

export const info = { name: 'test', version: '1.0.0' }

/** Makes a client that connects to a service. */
export const connecting =
  (options: ClientOptions): Connect =>
  async ({ url, token, say }) => {
    const client = new Client(info, { ...options, capabilities: say ? { elicitation: { form: {} } } : {} })
    if (say) client.setRequestHandler('elicitation/create', ({ params }) => ({ ...say(params) }))
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
    return connected(client)
  }

function connected(client: Client): Connected {
  return {
    revision: client.getNegotiatedProtocolVersion(),
    instructions: client.getInstructions(),
    tools: async () => (await client.listTools()).tools,
    call: (name, args, { signal, timeout, onProgress } = {}) =>
      client.callTool(
        { name, arguments: args },
        {
          ...(signal && { signal }),
          ...(timeout && { timeout }),
          ...(onProgress && {
            resetTimeoutOnProgress: true,
            onprogress: ({ progress, message }) => onProgress(progress, message),
          }),
        },
      ),
    close: () => client.close(),
  }
}

export function signingIn(options: ClientOptions): SigningIn {
  const authProvider = new Memory()
  const transport = (url: string) => new StreamableHTTPClientTransport(new URL(url), { authProvider })
  return {
    async ask(url) {
      await new Client(info, options).connect(transport(url)).catch(() => {})
      if (authProvider.sentTo === undefined) throw new Error('nobody is asked for permission')
      return authProvider.sentTo
    },
    async finish(url, code) {
      await transport(url).finishAuth(code)
      const client = new Client(info, options)
      await client.connect(transport(url))
      return connected(client)
    },
  }
}
