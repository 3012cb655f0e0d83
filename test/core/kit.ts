/** Handlers of the core with plugins, in this process. */
import {
  type CoreOptions,
  createHandler,
  type Handler,
  type LogEntry,
  type Plugin,
} from '../../src/core-entry.ts'
import { platform } from '../../src/http/platform.ts'
import { untyped } from '../support.ts'

export interface Asked {
  readonly handler: Handler
  /** The log's entries, except those of requests. */
  readonly logged: LogEntry[]
  get(path: string, init?: RequestInit): Promise<Response>
  post(path: string, body?: object, init?: RequestInit): Promise<Response>
}

/** A handler with these plugins. */
export function served(plugins: readonly Plugin[], options: CoreOptions = {}): Asked {
  const logged: LogEntry[] = []
  const logger = (entry: LogEntry) => void (entry.event !== 'request' && logged.push(entry))
  const handler = createHandler({ registry: false, production: false, logger, ...options, plugins })
  const get: Asked['get'] = (path, init) =>
    handler(new Request(`http://127.0.0.1${path}`, init), platform({ ip: '127.0.0.1' }))
  return {
    handler,
    logged,
    get,
    post: (path, body = { input: 'hello' }, { headers, ...init } = {}) =>
      get(path, {
        method: 'POST',
        body: JSON.stringify(body),
        ...init,
        headers: { 'content-type': 'application/json', ...untyped<Record<string, string>>(headers) },
      }),
  }
}

/** A plugin that answers `GET` at these paths with its name. */
export function answering(name: string, ...paths: readonly string[]): Plugin {
  return {
    name,
    mount: () => ({
      routes: paths.map(path => ({ method: 'GET', path, endpoint: () => new Response(name) })),
    }),
  }
}

/** The error of making a handler with these plugins. */
export function refusalOf(plugins: unknown, options: CoreOptions = {}): { code?: string; message: string } {
  try {
    createHandler({ registry: false, ...options, plugins: untyped<readonly Plugin[]>(plugins) })
  } catch (error) {
    return untyped<{ code: string; message: string }>(error)
  }
  return { message: 'it was made' }
}
