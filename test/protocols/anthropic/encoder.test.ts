/** What is told of any run, as a stream and as a whole. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MessageEncoder, type MessageOptions } from '../../../src/protocols/anthropic/encoder.ts'
import { acts, type Body, type Ending, endings, played, REQUESTS, RUN_ID } from '../openai/any-run.ts'
import { readMessage } from './message-stream.ts'

const about: MessageOptions = {
  ...{ runId: RUN_ID, model: 'm', createdMs: 0, isStream: true, isJson: false, isStored: true },
  ...{ maxLength: 1_000_000, requestId: 'r-1', showsThinking: true, toolCalls: 'mcp_tool_use' },
}

function told({ events }: Body, more: Partial<MessageOptions> = {}): MessageEncoder & { text: string } {
  const encoder = new MessageEncoder({ ...about, ...more })
  const text = encoder.begin() + events.map(event => encoder.encode(event)).join('')
  return Object.assign(encoder, { text })
}

const REASONS: Readonly<Partial<Record<Ending, string>>> = {
  ...{ length: 'max_tokens', tool_calls: 'max_tokens', client_tool: 'tool_use', several: 'tool_use' },
}

describe('a message of any run', () => {
  it('is told in order, and as a whole in the same words', () => {
    const runs = fc.tuple(acts, endings, fc.boolean(), fc.boolean())
    fc.assert(
      fc.property(runs, ([all, ending, isStored, showsThinking]) => {
        const body = played(all, ending, isStored)
        const how = { isStored, showsThinking }
        const streamed = readMessage(told(body, how).text)
        const { answer, end } = told(body, { ...how, isStream: false })
        if (streamed.error !== undefined) {
          expect(end?.type).toBe('error')
          expect(['cancelled', 'error', 'timeout']).toContain(ending)
          expect(streamed.error).toMatchObject({ type: 'api_error' })
          return
        }
        expect(answer).toMatchObject(streamed)
        expect(streamed.stop_reason).toBe(REASONS[ending] ?? 'end_turn')
        expect(streamed.content.length).toBeGreaterThan(0)
        const ofType = (type: string) => streamed.content.filter(block => block.type === type)
        expect(ofType('mcp_tool_use').length).toBe(body.ended.length)
        expect(ofType('mcp_tool_result').map(({ tool_use_id }) => tool_use_id)).toEqual(
          ofType('mcp_tool_use').map(({ id }) => id),
        )
        const asked = (REQUESTS[ending] ?? []).filter(({ kind }) => kind === 'client_tool')
        expect(ofType('tool_use')).toMatchObject(
          asked.map(({ toolName: name, args: input }) => ({ name, input })),
        )
        for (const { id } of ofType('tool_use')) expect(id).toMatch(/^toolu_[\w-]{32,58}$/)
        if (!showsThinking) expect(ofType('thinking')).toEqual([])
        for (const { signature } of ofType('thinking')) expect(signature).not.toBe('')
      }),
      { numRuns: 3000 },
    )
  })
})

const ended = (more: object) =>
  played([], 'length', false).events.map(event => ({ ...event, ...more })) as Body['events']
const readEnd = (more: object, how: Partial<MessageOptions> = {}) =>
  readMessage(told({ events: ended(more) } as Body, how).text)

describe('the end of a message', () => {
  it('says no more than the agent does: only its own filter is a refusal', () => {
    expect(readEnd({ finishReason: 'content_filter' })).toMatchObject({
      stop_reason: 'refusal',
      stop_details: { type: 'refusal' },
    })
    expect(readEnd({ finishReason: 'rejected' }).stop_reason).toBe('end_turn')
  })

  it('has a block, also if nothing was said', () => {
    expect(readEnd({ finishReason: 'stop' }).content).toEqual([{ type: 'text', text: '' }])
  })

  it('has the structured output as the call that was asked for', () => {
    const structured = { grams: 12 }
    const how = { isJson: true, tool: 'weigh' }
    const { content, stop_reason } = readEnd({ finishReason: 'stop', structured }, how)
    expect([content, stop_reason]).toMatchObject([
      [{ type: 'tool_use', name: 'weigh', input: structured }],
      'tool_use',
    ])
    expect(readEnd({ finishReason: 'stop', structured }, { isJson: true }).content).toEqual([
      { type: 'text', text: '{"grams":12}' },
    ])
  })
})

it('calls of tools are left out if they are hidden', () => {
  const all = ['call', 'result'].map(op => ({ op, lane: 0, which: 0, said: 'a' })) as never
  const body = played(all, 'stop', false)
  expect(body.ended).toHaveLength(1)
  expect(told(body, { toolCalls: 'hidden' }).text).not.toContain('mcp_tool')
})

it('an answer that is too long is refused', () => {
  const body = { events: [{ type: 'text', text: 'x'.repeat(11) }] } as unknown as Body
  expect(() => told(body, { maxLength: 10 })).toThrow('too long')
})
