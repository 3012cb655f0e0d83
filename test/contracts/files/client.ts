/** Starts runs that make files, and asks for the files. */
import { expect } from 'vitest'
import type { ContentPart, RunEvent, RunInput, RunRecord, Turn } from '../../../src/index.ts'
import { accept, as, ended, type Fields, own, post, type Server } from '../runs/client.ts'

export { as, own }

/** Starts a stored run that says these events, and waits for its end. */
export async function says(
  server: Server,
  events: readonly object[],
  headers: Fields = {},
): Promise<RunRecord> {
  const { id } = await accept(server, 'agents/says', { input: JSON.stringify(events) }, headers)
  return ended(server, id, headers)
}

/** A run of an artifact with these parts. */
export function makes(
  server: Server,
  artifactId: string,
  parts: readonly object[],
  headers?: Fields,
  name?: string,
): Promise<RunRecord> {
  return says(server, [{ type: 'artifact', artifactId, parts, ...(name !== undefined && { name }) }], headers)
}

/** Sends an input in a session. Gives the id of the run, and what the agent heard. */
export async function sends(
  server: Server,
  about: { readonly input: RunInput; readonly sessionId: string; readonly background?: boolean },
  headers?: Fields,
): Promise<{ readonly id: string; readonly text: string }> {
  const answer = await post(server, '/api/agents/hears/run', about, headers)
  expect(answer.status, answer.text).toBe(200)
  return { id: answer.headers.get('x-run-id') ?? '', text: JSON.parse(answer.text).text }
}

/** What is kept of a session. */
export async function turnsOf(server: Server, sessionId: string, headers?: Fields): Promise<readonly Turn[]> {
  return JSON.parse((await sends(server, { input: 'turns', sessionId }, headers)).text)
}

/** The data of a part, which is an address or base64. */
export function dataOf(part: ContentPart | undefined): string {
  return part !== undefined && 'data' in part ? String(part.data) : ''
}

/** The first address in the result of a run. */
export function addressIn({ result }: RunRecord): string {
  return dataOf(result?.artifacts?.[0]?.parts[0])
}

/** Asks for a file. */
export function fetchFile(
  server: Server,
  address: string,
  headers: Fields = {},
  method = 'GET',
): Promise<Response> {
  return fetch(`${server().url}${address}`, { headers, method })
}

/** The bytes of a file that is there. */
export async function bytesAt(
  server: Server,
  address: string,
  headers?: Fields,
): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetchFile(server, address, headers)
  expect(response.status, address).toBe(200)
  return new Uint8Array(await response.arrayBuffer())
}

/** The status and the code of an answer that is none. */
export async function refusalAt(server: Server, address: string, headers?: Fields): Promise<unknown[]> {
  const response = await fetchFile(server, address, headers)
  const { code } = await response.json()
  return [response.status, code]
}

/** The parts of the events of a stream. */
export function partsIn(events: readonly RunEvent[]): readonly ContentPart[] {
  return events.flatMap(event => ('parts' in event ? event.parts : []))
}
