/**
 * Tool servers that are programs of this machine, on Node, Bun and Deno.
 *
 * @module
 */

import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { OpenStdio } from '../adapters/mcp-client/connection.ts'

/**
 * Starts a program without a shell, and talks to it over its standard input and output. Its standard error is dropped. Of
 * this process's environment, the program gets only the few variables that every program needs.
 *
 * @example
 * const manager = new ToolServerManager({ stdio })
 * createHandler({ admin: { manager, authenticate, stdio: { commands: ['mcp-server-everything'] } } })
 */
export const stdio: OpenStdio = ({ command, args, env, maxBytes }) =>
  new StdioClientTransport({
    command,
    args: [...args],
    env: { ...getDefaultEnvironment(), ...env },
    stderr: 'ignore',
    maxBufferSize: maxBytes,
  })
