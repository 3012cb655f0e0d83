/** The examples behind a handler, with real requests and responses. */

import * as agents from '../../examples/agents.ts'
import { createHandler, type RunEvent, type RunInput, type RunResult } from '../../src/index.ts'
import { untimed } from '../support.ts'

const handler = createHandler({ serve: Object.values(agents), production: false, logger: false })

/** Posts an input; `path` is such as `agents/echo/run`. */
export function post(path: string, input: RunInput): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ input })
  return handler(new Request(`http://localhost/api/${path}`, { method: 'POST', headers, body }))
}

/** The answer of the JSON route. */
export async function run(path: string, input: RunInput): Promise<RunResult> {
  const response = await post(`${path}/run`, input)
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  return response.json()
}

/** The events of the stream route. */
export async function stream(path: string, input: RunInput): Promise<RunEvent[]> {
  const text = await (await post(`${path}/stream`, input)).text()
  return text
    .split('\n')
    .filter(line => line.startsWith('data: '))
    .map(line => untimed(JSON.parse(line.slice('data: '.length))))
}

/** The text of the answer, piece by piece. */
export function pieces(events: readonly RunEvent[]): string[] {
  return events.flatMap(event => (event.type === 'text' ? [event.text] : []))
}
