/** What holds of traces and their metrics on every runtime. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import type { Deploy } from '../runtimes/deployments.ts'
import { jsonRequest } from './http/client.ts'
import { type Received, type Receiver, startReceiver } from './otel/receiver.ts'
import { as, type Deployment, own, post, type Server } from './runs/client.ts'

const KEY = 'sk-canary-of-traces-0123456789'

/** A trace of a client. */
function newTrace(): { traceId: string; spanId: string; traceparent: string } {
  const hex = () => crypto.randomUUID().replaceAll('-', '')
  const [traceId, spanId] = [hex(), hex().slice(0, 16)]
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-01` }
}

/** A task, as A2A 1.0 answers with it. */
interface Sent {
  readonly result: {
    readonly task: {
      readonly id: string
      readonly contextId: string
      readonly status: { readonly state: string }
    }
  }
}

/** Where nothing is stored, it says something of plain runs alone. */
export function otelContract(deploy: Deploy, { stores = true } = {}): void {
  describe('a service that traces', () => {
    let receiver: Receiver
    let deployment: Deployment | undefined
    const server: Server = () => deployment!
    beforeAll(async () => {
      receiver = await startReceiver()
      deployment = await deploy(receiver.url)
    })
    afterAll(async () => {
      await deployment?.stop()
      await receiver?.stop()
    })

    /** The spans of a trace, once there is one of that name. */
    const traced = (traceId: string, name: string): Promise<Received[]> =>
      eventually(() => {
        const spans = receiver.spans.filter(span => span.traceId === traceId)
        expect(spans.map(span => span.name)).toContain(name)
        return spans
      })
    const named = (spans: readonly Received[], name: string): Received => {
      const found = spans.filter(span => span.name === name)
      expect(found.length, name).toBe(1)
      return found[0]!
    }

    it('sends the span of a run, inside of that of the client, and what is in it', async () => {
      const { traceId, spanId, traceparent } = newTrace()
      const headers = { traceparent }
      const body = { input: KEY, sessionId: 's-7', apiKey: KEY }
      const answer = await post(server, '/api/agents/finder/run', body, headers)
      const { text, runId } = JSON.parse(answer.text)
      const spans = await traced(traceId, 'invoke_agent finder')
      const run = named(spans, 'invoke_agent finder')
      expect(run).toMatchObject({
        parentSpanId: spanId,
        schemaUrl: 'https://opentelemetry.io/schemas/gen-ai/0.1.0',
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.name': 'finder',
          'gen_ai.conversation.id': 's-7',
          'gen_ai.request.model': 'gpt-9',
          'gen_ai.usage.input_tokens': 5,
          'gen_ai.usage.output_tokens': 7,
          'gen_ai.response.finish_reasons': ['stop'],
          'servable.run.id': runId,
        },
      })
      const tool = named(spans, 'execute_tool search')
      const chat = named(spans, 'chat gpt-9')
      expect([tool.parentSpanId, chat.parentSpanId]).toEqual([run.spanId, run.spanId])
      expect(JSON.parse(text.slice(text.indexOf('{')))).toEqual({
        own: `00-${traceId}-${run.spanId}-01`,
        tool: `00-${traceId}-${tool.spanId}-01`,
      })
    })

    if (stores) {
      it('sends the spans of a stored run', async () => {
        const { traceId, spanId, traceparent } = newTrace()
        const headers = { traceparent, prefer: 'respond-async', ...as(own('ann')) }
        const answer = await post(server, '/api/teams/crew/run', { input: 'hi' }, headers)
        expect(answer.status, answer.text).toBe(202)
        const spans = await traced(traceId, 'invoke_agent crew')
        const run = named(spans, 'invoke_agent crew')
        const member = named(spans, 'invoke_agent finder')
        expect([run.parentSpanId, member.parentSpanId]).toEqual([spanId, run.spanId])
        expect(named(spans, 'execute_tool search').parentSpanId).toBe(member.spanId)
      })

      it('links a run to the one that it continues', async () => {
        const [first, second] = [newTrace(), newTrace()]
        const ann = as(own('ann'))
        const asked = await post(
          server,
          '/api/agents/pays/run',
          { input: 'hi' },
          { ...ann, traceparent: first.traceparent },
        )
        const { runId, requests } = JSON.parse(asked.text)
        const waited = named(await traced(first.traceId, 'invoke_agent pays'), 'invoke_agent pays')
        expect(waited.attributes['gen_ai.response.finish_reasons']).toEqual(['input_required'])
        const answers = [{ id: requests[0].id, decision: 'approve' }]
        const headers = { ...ann, traceparent: second.traceparent }
        const answered = await post(server, `/api/runs/${runId}/answers`, { answers }, headers)
        expect(answered.status, answered.text).toBeLessThan(300)
        const spans = await traced(second.traceId, 'invoke_agent pays')
        const run = named(spans, 'invoke_agent pays')
        expect(run.links).toEqual([
          expect.objectContaining({ traceId: first.traceId, spanId: waited.spanId }),
        ])
        expect(run.attributes['servable.run.continues']).toBe(runId)
        expect(named(spans, 'execute_tool pay').parentSpanId).toBe(run.spanId)
      })

      it('links the run with which a task goes on', async () => {
        const [first, second] = [newTrace(), newTrace()]
        const ann = as(own('ann'))
        const send = async (message: object, { traceparent }: { traceparent: string }) => {
          const params = { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', ...message } }
          const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }
          const init = jsonRequest(body, { ...ann, traceparent, 'a2a-version': '1.0' })
          return ((await (await fetch(server().url, init)).json()) as Sent).result.task
        }
        const { id, contextId } = await send({ parts: [{ text: 'A shirt' }] }, first)
        const waited = named(await traced(first.traceId, 'invoke_agent asks'), 'invoke_agent asks')
        const { status } = await send({ parts: [{ text: 'M' }], taskId: id, contextId }, second)
        expect(status.state).toBe('TASK_STATE_COMPLETED')
        const run = named(await traced(second.traceId, 'invoke_agent asks'), 'invoke_agent asks')
        expect(run.parentSpanId).toBe(second.spanId)
        expect(run.links).toEqual([expect.objectContaining({ spanId: waited.spanId })])
      })
    }

    it('sends metrics, with few attributes', async () => {
      await eventually(() => {
        const of = (name: string) =>
          receiver.counted.filter(each => each.name === name).map(({ attributes }) => attributes)
        expect(of('gen_ai.invocation.duration')).toContainEqual(
          expect.objectContaining({
            'gen_ai.operation.name': 'invoke_agent',
            'gen_ai.agent.name': 'finder',
            'gen_ai.invocation.is_nested': false,
          }),
        )
        expect(of('gen_ai.execute_tool.duration')).not.toEqual([])
        expect(of('servable.run.time_to_first_chunk')).not.toEqual([])
        const call = {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': 'openai',
          'gen_ai.request.model': 'gpt-9',
        }
        expect(of('gen_ai.client.inference.duration')).toContainEqual(call)
        expect(of('gen_ai.client.inference.usage.input_tokens')).toContainEqual({
          ...call,
          'gen_ai.token.modality': 'unknown',
        })
      })
    })

    it('sends no key of a provider, also where it sends what was said', () => {
      expect(receiver.text()).toContain('gen_ai.input.messages')
      expect(receiver.text()).toContain('gen_ai.tool.call.arguments')
      expect(receiver.text()).not.toContain(KEY)
    })
  })
}
