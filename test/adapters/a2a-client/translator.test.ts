import type { Artifact, Part } from '@a2a-js/sdk'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EmittedText } from '../../../src/adapters/a2a-client/emitted-text.ts'
import type { Payload } from '../../../src/adapters/a2a-client/service.ts'
import { type EmittedArtifacts, Translator } from '../../../src/adapters/a2a-client/translator.ts'
import { isRunEvent } from '../../../src/agents/event.ts'
import { Fold } from '../../../src/agents/fold.ts'
import { isServableError } from '../../../src/base/errors.ts'
import type { RunEvent } from '../../../src/index.ts'

const part = (content: Part['content']): Part => ({
  ...{ content, metadata: undefined, filename: '', mediaType: 'text/csv' },
})
const artifactOf = (artifactId: string, parts: Part[]): Artifact => ({
  ...{ artifactId, parts, name: '', description: '', metadata: undefined, extensions: [] },
})
const ids = { taskId: 't', contextId: 'c', metadata: undefined }

type Chunk = { readonly id: string; readonly text: string } | { readonly id: string; readonly data: number }

const chunkOf = (): fc.Arbitrary<Chunk> =>
  fc.oneof(
    fc.record({ id: fc.constantFrom('a', 'b'), text: fc.string({ minLength: 1, maxLength: 5 }) }),
    fc.record({ id: fc.constantFrom('a', 'b'), data: fc.integer() }),
  )

const partOf = (chunk: Chunk): Part =>
  part('text' in chunk ? { $case: 'text', value: chunk.text } : { $case: 'data', value: chunk.data })

const update = (chunk: Chunk): Payload => ({
  $case: 'artifactUpdate',
  value: { ...ids, artifact: artifactOf(chunk.id, [partOf(chunk)]), append: true, lastChunk: false },
})

/** The task after so many chunks. */
function snapshot(chunks: readonly Chunk[], state = 2): Payload {
  const names = [...new Set(chunks.map(({ id }) => id))]
  const artifacts = names.map(name => artifactOf(name, chunks.filter(({ id }) => id === name).map(partOf)))
  const status = { state, message: undefined, timestamp: undefined }
  return {
    $case: 'task',
    value: { id: 't', contextId: 'c', status, artifacts, history: [], metadata: undefined },
  }
}

/** What was said of each artifact. */
function saidOf(events: readonly RunEvent[]) {
  const fold = new Fold()
  for (const event of events) fold.add(event)
  const { text, artifacts = [] } = fold.result({ runId: '', durationMs: 0 })
  return { length: text.length, artifacts: artifacts.map(({ artifactId, parts }) => ({ artifactId, parts })) }
}

const whole = (chunks: readonly Chunk[]) => {
  const translator = new Translator({ name: 'x' })
  return saidOf(chunks.flatMap(chunk => [...translator.see(update(chunk))]))
}

describe('Translator', () => {
  it('tells each chunk once, however often the connection is lost', () => {
    fc.assert(
      fc.property(
        fc.array(chunkOf(), { maxLength: 12 }),
        fc.array(fc.nat(12), { maxLength: 4 }),
        (chunks, lost) => {
          const translator = new Translator({ name: 'x' })
          const events: RunEvent[] = []
          const cuts = new Set(lost)
          for (const [at, chunk] of chunks.entries()) {
            // The service begins again with the task as it is.
            if (cuts.has(at)) events.push(...translator.see(snapshot(chunks.slice(0, at))))
            events.push(...translator.see(update(chunk)))
          }
          events.push(...translator.see(snapshot(chunks, 3)))
          const { length, artifacts } = saidOf(events)
          const expected = whole(chunks)
          expect(length).toBe(expected.length)
          expect(new Set(artifacts)).toEqual(new Set(expected.artifacts))
          expect(translator.end?.state).toBe('completed')
        },
      ),
    )
  })

  it('tells what an earlier run has not told', () => {
    fc.assert(
      fc.property(fc.array(chunkOf(), { maxLength: 10 }), fc.nat(10), (chunks, cut) => {
        const first = new Translator({ name: 'x' })
        const before = chunks.slice(0, cut).flatMap(chunk => [...first.see(update(chunk))])
        const emitted: EmittedArtifacts = JSON.parse(JSON.stringify(first.emitted))
        const second = new Translator({ name: 'x', taskId: 't', contextId: 'c', emitted })
        const after = [...second.see(snapshot(chunks))]
        expect(saidOf(before).length + saidOf(after).length).toBe(whole(chunks).length)
        const count = (events: readonly RunEvent[]) =>
          events.reduce((sum, event) => sum + (event.type === 'artifact' ? event.parts.length : 0), 0)
        expect(count(before) + count(after)).toBe(chunks.filter(chunk => 'data' in chunk).length)
      }),
    )
  })

  it('gives run events for anything, or throws one known error', () => {
    const junk = fc.anything({ maxDepth: 4, withNullPrototype: false })
    const text = fc.oneof(fc.string(), fc.constantFrom('t', 'c', ''))
    const parts = fc.array(
      fc.record({
        content: fc.oneof(
          fc.record({ $case: fc.constantFrom('text', 'url'), value: fc.oneof(fc.string(), fc.webUrl()) }),
          fc.record({ $case: fc.constant('data'), value: fc.jsonValue() }),
          fc.record({ $case: fc.constant('raw'), value: fc.uint8Array() }),
          fc.constant(undefined),
        ),
        metadata: fc.oneof(fc.constant(undefined), fc.dictionary(fc.string(), fc.jsonValue())),
        ...{ filename: fc.string(), mediaType: fc.constantFrom('', 'image/png', 'audio/x', 'text/x') },
      }),
      { maxLength: 3 },
    )
    const message = fc.record({
      ...{ messageId: text, contextId: text, taskId: text, role: fc.nat(3), parts },
      ...{
        metadata: fc.constant(undefined),
        extensions: fc.array(fc.string()),
        referenceTaskIds: fc.constant([]),
      },
    })
    const status = fc.oneof(
      fc.constant(undefined),
      fc.record({
        ...{ state: fc.integer({ min: -2, max: 10 }), message: fc.oneof(fc.constant(undefined), message) },
        timestamp: fc.oneof(fc.constant(undefined), fc.string()),
      }),
    )
    const artifact = fc.record({
      ...{ artifactId: text, name: fc.string(), description: fc.string(), parts },
      ...{ metadata: fc.constant(undefined), extensions: fc.array(fc.string()) },
    })
    const payload = fc.oneof(
      fc.record({
        $case: fc.constant('task'),
        value: fc.record({
          id: text,
          contextId: text,
          status,
          artifacts: fc.array(artifact),
          history: fc.constant([]),
        }),
      }),
      fc.record({ $case: fc.constant('message'), value: message }),
      fc.record({
        $case: fc.constant('statusUpdate'),
        value: fc.record({
          ...{ taskId: text, contextId: text, status },
          metadata: fc.oneof(
            junk,
            fc.record({
              step: fc.oneof(
                junk,
                fc.record({ name: fc.string(), status: fc.constant('progress'), text: junk }),
              ),
            }),
          ),
        }),
      }),
      fc.record({
        $case: fc.constant('artifactUpdate'),
        value: fc.record({
          taskId: text,
          contextId: text,
          artifact,
          append: fc.boolean(),
          lastChunk: fc.boolean(),
        }),
      }),
    )
    fc.assert(
      fc.property(fc.array(payload, { maxLength: 5 }), payloads => {
        const translator = new Translator({ name: 'x' })
        try {
          for (const each of payloads)
            for (const event of translator.see(each as unknown as Payload))
              expect(isRunEvent(event), JSON.stringify(event)).toBe(true)
        } catch (error) {
          if (!isServableError(error)) throw error
          expect(error.code).toBe('invalid_agent_response')
        }
      }),
    )
  })
})

describe('EmittedText', () => {
  it('tells another text as a whole, and is not confused by one that is behind', () => {
    const emitted = new EmittedText(0)
    expect(emitted.append('one two')).toBe('one two')
    expect(emitted.replace('one')).toBe('')
    expect(emitted.append(' two')).toBe('')
    expect(emitted.append(' three')).toBe(' three')
    expect(emitted.replace('other')).toBe('other')
    expect(emitted.length).toBe(5)
  })
})
