/** Administers tool servers over loopback. */
import { expect } from 'vitest'
import type { ServerTool, ToolServer } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { type Answer, jsonRequest } from '../http/client.ts'
import { ask, type Server } from '../runs/client.ts'
import { ADMIN_TOKEN } from './service.ts'

const asAdmin = { authorization: `Bearer ${ADMIN_TOKEN}` }

/** A name that no other test has. */
export const newName = (): string => `s${crypto.randomUUID().slice(0, 8)}`

export function admin(server: Server, method: string, path: string, body?: unknown): Promise<Answer> {
  const init = body === undefined ? { headers: asAdmin } : jsonRequest(body, asAdmin)
  return ask(server, `/api/admin/${path}`, { ...init, method })
}

/** Makes a request, and checks the status of its answer. */
export async function expectAdmin<T>(
  server: Server,
  method: string,
  path: string,
  { status = 200, body }: { readonly status?: number; readonly body?: unknown } = {},
): Promise<T> {
  const answer = await admin(server, method, path, body)
  expect(answer.status, answer.text).toBe(status)
  return JSON.parse(answer.text)
}

export const addServer = (server: Server, body: object): Promise<ToolServer> =>
  expectAdmin(server, 'POST', 'mcp', { status: 201, body })

export const getServer = (server: Server, { id }: ToolServer): Promise<ToolServer> =>
  expectAdmin(server, 'GET', `mcp/${id}`)

export const removeServer = (server: Server, { id }: ToolServer): Promise<ToolServer> =>
  expectAdmin(server, 'DELETE', `mcp/${id}`)

/** Waits until a tool server has a status. */
export async function untilStatus(server: Server, added: ToolServer, status: string): Promise<ToolServer> {
  let found: ToolServer | undefined
  await eventually(async () => {
    found = await getServer(server, added)
    expect(found.status, found.error ?? '').toBe(status)
  })
  return found!
}

/** The tools of a tool server in `GET /tools`. */
export async function toolNames(server: Server, name: string): Promise<string[]> {
  const { text } = await ask(server, '/api/tools')
  const tools: ServerTool[] = JSON.parse(text)
  return tools.map(tool => tool.name).filter(each => each.startsWith(`${name}.`))
}

/** The input for the agent that calls tools. */
export const callOf = (tool: string, args: object = {}): { input: string } => ({
  input: `${tool} ${JSON.stringify(args)}`,
})
