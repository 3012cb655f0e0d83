/**
 * A plugin of your own, in one file. It gives the events of a run as NDJSON, one JSON value a line. It also counts these
 * requests for each agent.
 *
 *     createHandler({ agents, state: memoryState(), plugins: [ndjson()] })
 *
 *     curl -N localhost:8787/api/agents/echo/ndjson -H 'content-type: application/json' -d '{"input":"hi"}'
 *     curl localhost:8787/api/ndjson/counts
 */

// In your own project import from `servable/core`. This example imports the sources, so that it needs no build.
import { callerOf, type Description, keeping, type Plugin, type RunEvent } from '../src/core-entry.ts'

/**
 * The plugin's stored data: transactions, each a pure function of the data and its arguments. A store may run a transaction
 * more than once, but never two at the same time, so no count is lost. The same code works in memory, in SQLite and in
 * Durable Objects.
 */
const counts = keeping({
  reads: {
    all: kept =>
      kept.list<number>('asked', { limit: 1000 }).map(({ id, value }) => ({ agent: id, count: value })),
  },
  writes: {
    add: (kept, agent: string) => kept.put('asked', agent, (kept.get<number>('asked', agent) ?? 0) + 1),
  },
})

/** All data of one place is stored together; with Durable Objects, in one object. Here one place has all counts. */
const PLACE = 'counts'

/** Serves `POST {prefix}/agents/:name/ndjson` and `GET {prefix}/ndjson/counts`. */
export function ndjson(): Plugin {
  return {
    name: 'ndjson',
    kept: counts,
    mount(core) {
      const kept = core.calls(counts)
      return {
        routes: [
          {
            method: 'POST',
            path: `${core.prefix}/agents/:name/ndjson`,
            async endpoint(request, context) {
              // Errors of these two calls are answered as usual: an unknown agent with 404, an invalid body with 400.
              const asked = await core.readRun('agent', request, context)
              const run = await callerOf(core, request, context).start(asked)
              // The response does not wait for the count. A failed count does not affect the run.
              const counting = kept.add(PLACE, asked.target.name).catch(error => {
                core.log({ level: 'warn', event: 'ndjson.uncounted', message: String(error) })
              })
              context.waitUntil(counting)
              return new Response(linesOf(run.events()), {
                headers: { 'content-type': 'application/x-ndjson', 'x-run-id': run.id },
              })
            },
          },
          {
            method: 'GET',
            path: `${core.prefix}/ndjson/counts`,
            endpoint: async () => Response.json(await kept.all(PLACE)),
          },
        ],
        describe: ({ prefix }) => describe(prefix),
      }
    },
  }
}

/** Events as lines, at the client's speed. */
function linesOf(events: AsyncIterableIterator<RunEvent>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream(
    {
      // Called when the client has room for another event. Then the agent continues.
      async pull(controller) {
        try {
          const { done, value } = await events.next()
          if (done) controller.close()
          else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`))
        } catch (error) {
          // For example, JSON cannot express the event. The rest is not read.
          await events.return?.()
          throw error
        }
      },
      // The client has left. Leaving the events of a plain run cancels it, and the agent's signal fires.
      async cancel() {
        await events.return?.()
      },
    },
    // Reads nothing in advance.
    { highWaterMark: 0 },
  )
}

/**
 * The plugin's part of `GET {prefix}/docs/spec.json`, if the service has that document: OpenAPI 3.0.3, beside the core's
 * schemas.
 */
function describe(prefix: string): Description {
  const problem = { $ref: '#/components/schemas/Problem' }
  return {
    tags: [{ name: 'ndjson', description: 'Runs as lines of JSON' }],
    paths: {
      [`${prefix}/agents/{name}/ndjson`]: {
        post: {
          operationId: 'runAsLines',
          summary: 'Run an agent and get its events, one a line',
          tags: ['ndjson'],
          parameters: [{ in: 'path', name: 'name', required: true, schema: { type: 'string' } }],
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { $ref: '#/components/schemas/RunBody' } } },
          },
          responses: {
            200: {
              description: 'The events, to the one that ends the run',
              content: { 'application/x-ndjson': { schema: { $ref: '#/components/schemas/RunEvent' } } },
            },
            404: {
              description: 'There is no such agent',
              content: { 'application/problem+json': { schema: problem } },
            },
          },
        },
      },
      [`${prefix}/ndjson/counts`]: {
        get: {
          operationId: 'countRunsAsLines',
          summary: 'How often each agent was asked so',
          tags: ['ndjson'],
          responses: {
            200: {
              description: 'The counts',
              content: {
                'application/json': {
                  schema: { type: 'array', items: { $ref: '#/components/schemas/LineCount' } },
                },
              },
            },
          },
        },
      },
    },
    schemas: {
      LineCount: {
        type: 'object',
        required: ['agent', 'count'],
        properties: { agent: { type: 'string' }, count: { type: 'integer', minimum: 1 } },
      },
    },
  }
}
