/**
 * A plugin of your own, in one file: the events of a run as NDJSON, one JSON value a line, and a count of how often each agent
 * was asked so.
 *
 *     createHandler({ agents, state: memoryState(), plugins: [ndjson()] })
 *
 *     curl -N localhost:8787/api/agents/echo/ndjson -H 'content-type: application/json' -d '{"input":"hi"}'
 *     curl localhost:8787/api/ndjson/counts
 */

// In your own project: `servable/core`. Here the sources, so that no build is needed.
import { type Description, keeping, type Plugin, type RunEvent } from '../src/core-entry.ts'

/**
 * What the plugin keeps: transactions, each a pure function of what is kept and of its arguments. A store may run one more than
 * once, and runs no other at the same time, so that no count is lost. It is the same in memory, in SQLite and in Durable Objects.
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

/** Whatever is kept of one place is together, with Durable Objects in one of them. Here all counts are listed together. */
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
              // What these throw is answered as it is everywhere: an unknown agent with 404, a wrong body with 400.
              const asked = await core.readRun('agent', request, context)
              const run = await core.startRun(asked, request, context)
              // Nobody waits for the count, and one that cannot be kept hurts no run.
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

/** Events as lines, no faster than the client reads them. */
function linesOf(events: AsyncIterableIterator<RunEvent>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream(
    {
      // Is called when there is room: an event is asked for, and the agent goes on.
      async pull(controller) {
        try {
          const { done, value } = await events.next()
          if (done) controller.close()
          else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`))
        } catch (error) {
          // Such as an event that JSON has no word for. Nobody reads the rest.
          await events.return?.()
          throw error
        }
      },
      // The client has left. Whoever leaves the events of a plain run cancels it, and the agent's signal fires.
      async cancel() {
        await events.return?.()
      },
    },
    // Nothing is read ahead of the client.
    { highWaterMark: 0 },
  )
}

/** What `GET {prefix}/docs/spec.json` tells of it, where there is a document: OpenAPI 3.0.3, beside the schemas of the core. */
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
