/** What stock clients read: resources and prompts, as far as each of them knows them. */

import { MCPClient } from '@mastra/mcp'
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { MCPServerStreamableHttp } from '@openai/agents'
import { MAJORS } from './ai-sdk.ts'
import { info, legacy, modern } from './client-2.ts'
import type { Content, Place, Reading } from './way.ts'

type Read = (place: Place) => Promise<Reading>

const headersOf = ({ token }: Place) => ({ authorization: `Bearer ${token}` })

const client2 =
  (options: ClientOptions, isModern: boolean): Read =>
  async place => {
    const client = new Client(info, options)
    const requestInit = { headers: headersOf(place) }
    await client.connect(new StreamableHTTPClientTransport(new URL(place.url), { requestInit }))
    return {
      list: async () => (await client.listResources()).resources.map(({ uri }) => uri),
      read: async uri => (await client.readResource({ uri })).contents as Content[],
      prompt: async (name, args) => (await client.getPrompt({ name, arguments: { ...args } })).messages[0],
      complete: async (name, argument, value) => {
        const ref = { type: 'ref/prompt' as const, name }
        return (await client.complete({ ref, argument: { name: argument, value } })).completion.values
      },
      async subscribe(uri, onChanged) {
        client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
          if (params.uri === uri) onChanged()
        })
        if (isModern) await client.listen({ resourceSubscriptions: [uri] })
        else await client.subscribeResource({ uri })
      },
      close: () => client.close(),
    }
  }

const sdk1: Read = async place => {
  const client = new Client1({ name: 'test', version: '1.0.0' })
  const transport = new Transport1(new URL(place.url), { requestInit: { headers: headersOf(place) } })
  await client.connect(transport as Parameters<Client1['connect']>[0])
  return {
    list: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    read: async uri => (await client.readResource({ uri })).contents as Content[],
    prompt: async (name, args) => (await client.getPrompt({ name, arguments: { ...args } })).messages[0],
    complete: async (name, argument, value) => {
      const ref = { type: 'ref/prompt' as const, name }
      return (await client.complete({ ref, argument: { name: argument, value } })).completion.values
    },
    async subscribe(uri, onChanged) {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
        if (params.uri === uri) onChanged()
      })
      await client.subscribeResource({ uri })
    },
    close: () => client.close(),
  }
}

const ai =
  ({ createMCPClient }: (typeof MAJORS)[number]): Read =>
  async place => {
    const client = await createMCPClient({
      transport: { type: 'http', url: place.url, headers: headersOf(place) },
    })
    return {
      list: async () => (await client.listResources()).resources.map(({ uri }) => uri),
      read: async uri => (await client.readResource({ uri })).contents as Content[],
      prompt: async (name, args) =>
        (await client.experimental_getPrompt({ name, arguments: { ...args } })).messages[0],
      complete: async (name, argument, value) => {
        const ref = { type: 'ref/prompt' as const, name }
        return (await client.complete({ ref, argument: { name: argument, value } })).completion.values
      },
      close: () => client.close(),
    }
  }

const mastra: Read = async place => {
  const server = { url: new URL(place.url), requestInit: { headers: headersOf(place) } }
  const client = new MCPClient({ id: crypto.randomUUID(), servers: { service: server } })
  return {
    list: async () => ((await client.resources.list()).service ?? []).map(({ uri }) => uri),
    read: async uri => (await client.resources.read('service', uri)).contents as Content[],
    prompt: async (name, args) =>
      (await client.prompts.get({ serverName: 'service', name, args: { ...args } })).messages[0],
    async subscribe(uri, onChanged) {
      await client.resources.onUpdated('service', params => {
        if (params.uri === uri) onChanged()
      })
      await client.resources.subscribe('service', uri)
    },
    close: () => client.disconnect(),
  }
}

const openai: Read = async place => {
  const server = new MCPServerStreamableHttp({
    url: place.url,
    name: 'service',
    requestInit: { headers: headersOf(place) },
  })
  await server.connect()
  return {
    list: async () => (await server.listResources()).resources.map(({ uri }) => uri),
    read: async uri => (await server.readResource(uri)).contents as unknown as Content[],
    close: () => server.close(),
  }
}

/** The clients that read, by name. */
export const READING: Readonly<Record<string, Read>> = {
  'client 2, 2026-07-28': client2(modern, true),
  'client 2, 2025-11-25': client2(legacy('2025-11-25'), false),
  'sdk 1, 2025-11-25': sdk1,
  '@ai-sdk/mcp 1': ai(MAJORS[0]),
  '@ai-sdk/mcp 2': ai(MAJORS[1]),
  '@mastra/mcp': mastra,
  '@openai/agents': openai,
}
