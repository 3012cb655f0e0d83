/** An exercise for the client on any runtime. It uses only Web standards, so that every runtime and a browser can load it. */
import { createClient, type RunEvent, ServableClientError } from '../../../src/client/index.ts'

/** Where and how often to run the exercise. */
export interface Exercise {
  /** The service, with its prefix. */
  readonly direct: string
  /** The service through a proxy that cuts every connection. */
  readonly cut: string
  readonly runs: number
}

/** The report of an exercise. */
export interface Report {
  /** Number of streams and results that equal those of an uncut run. */
  readonly streams: number
  readonly results: number
  /** The service's statuses of the runs that were left, in three ways. */
  readonly left: readonly string[]
  /** The rejection of an aborted call. */
  readonly reason: string
  readonly code: string
  readonly names: readonly string[]
}

/** Number of events of a run. */
const COUNT = '40'

/** Number of concurrent runs. */
const WIDTH = 4

/** Runs agents directly and through the proxy, and leaves some runs. */
export async function exercise({ direct, cut, runs }: Exercise): Promise<Report> {
  const client = createClient({ baseUrl: direct })
  const unlucky = createClient({ baseUrl: cut, maxTries: 100, retryDelayMs: 0 }).agent('counts')
  const wholeStream = JSON.stringify(await read(client.agent('counts').stream(COUNT)))
  const wholeText = (await client.agent('counts').run(COUNT)).text
  const streams = await times(
    runs,
    async () => JSON.stringify(await read(unlucky.stream(COUNT))) === wholeStream,
  )
  const results = await times(runs, async () => (await unlucky.run(COUNT)).text === wholeText)

  const statusOf = async (id: string | undefined) => (await client.runs.get(id ?? '')).status
  const broken = client.agent('gated').stream('broken')
  for await (const _ of broken) break
  const aborting = new AbortController()
  const aborted = client.agent('gated').stream('aborted', { signal: aborting.signal })
  await aborted.next()
  const waiting = aborted.next().catch(String)
  aborting.abort('enough')
  const reason = String(await waiting)
  const timed = client.agent('gated').stream('timed', { timeoutMs: 300 })
  await read(timed).catch(() => {})

  const refused = await client
    .agent('nobody')
    .run('x')
    .catch(error => error)
  return {
    streams,
    results,
    left: await Promise.all([broken, aborted, timed].map(({ runId }) => statusOf(runId))),
    reason,
    code: refused instanceof ServableClientError ? refused.code : String(refused),
    names: (await client.agents()).map(({ name }) => name),
  }
}

/** The events of a stream, without their times: no two runs have the same. */
async function read(stream: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const events: RunEvent[] = []
  for await (const { at: _, ...event } of stream) events.push(event as RunEvent)
  return events
}

/** Number of times that the work gave true. */
async function times(count: number, work: () => Promise<boolean>): Promise<number> {
  let left = count
  let right = 0
  const worker = async () => {
    while (left-- > 0) if (await work()) right++
  }
  await Promise.all(Array.from({ length: WIDTH }, worker))
  return right
}

/** Runs the exercise in this process with the parameters of a request's query, and answers with the report. */
export async function answerExercise(request: Request): Promise<Response> {
  const query = new URL(request.url).searchParams
  const value = (name: string) => query.get(name) ?? ''
  try {
    const runs = Number(value('runs'))
    return Response.json(await exercise({ direct: value('direct'), cut: value('cut'), runs }))
  } catch (error) {
    return new Response(`${error} ${Object(error).cause}`, { status: 500 })
  }
}
