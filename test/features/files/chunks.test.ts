/** However an artifact comes, its addresses lead to what was said. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Fold } from '../../../src/agents/fold.ts'
import type { Artifact, ArtifactEvent, ContentPart, RunEvent } from '../../../src/index.ts'
import { fromBase64, toBase64 } from '../../../src/web/base64.ts'
import { service } from './kit.ts'

/** Files with more than 4 different bytes are too large to stay in events. */
const spread = (bytes: Uint8Array) =>
  Uint8Array.from({ length: bytes.length * 1000 }, (_, at) => bytes[Math.floor(at / 1000)]!)

const part: fc.Arbitrary<ContentPart> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text: fc.constantFrom('', 'a', 'b') }),
  fc.record({
    type: fc.constant('file' as const),
    data: fc.uint8Array({ maxLength: 6 }).map(spread).map(toBase64),
    mimeType: fc.constantFrom('a/b', 'c/d'),
  }),
  fc.constant({ type: 'image', data: 'https://a.example/b' } as const),
)

const said: fc.Arbitrary<ArtifactEvent> = fc.record(
  {
    type: fc.constant('artifact' as const),
    artifactId: fc.constantFrom('one', '..'),
    parts: fc.array(part, { maxLength: 3 }),
    append: fc.boolean(),
    lastChunk: fc.boolean(),
  },
  { requiredKeys: ['type', 'artifactId', 'parts'] },
)

const FINISH: RunEvent = { type: 'finish', finishReason: 'stop' }

function fold(events: readonly RunEvent[]): readonly Artifact[] {
  const all = new Fold()
  for (const event of events) all.add(event)
  return all.result({ runId: '', durationMs: 0 }).artifacts ?? []
}

/** All that the files of one kind say, one after the other, between what is no file. */
function plain(parts: readonly ContentPart[]): unknown[] {
  const told: [unknown, ...unknown[]][] = []
  for (const each of parts) {
    const bytes = each.type === 'file' ? fromBase64(each.data) : undefined
    if (each.type !== 'file' || bytes === undefined) told.push([each])
    else if (told.at(-1)?.[0] === each.mimeType) told.at(-1)?.push(...bytes)
    else told.push([each.mimeType, ...bytes])
  }
  return told
}

it('artifacts have in the end what they were said to have', async () => {
  const { files, run, ask } = service(() => ['ok'])
  const { id: runId } = await run()
  const signal = new AbortController().signal
  await fc.assert(
    fc.asyncProperty(fc.array(said, { maxLength: 12 }), async events => {
      const taken = files.of({ runId, owner: null })
      const written: RunEvent[] = []
      for (const event of [...events, FINISH]) written.push(...((await taken.take(event, signal)) ?? [event]))
      expect(written.at(-1)).toBe(FINISH)
      const back = async (each: ContentPart): Promise<ContentPart> => {
        if (each.type !== 'file' || !each.data.startsWith('/api/')) return each
        const response = await ask(each.data)
        expect(response.status, each.data).toBe(200)
        return { ...each, data: toBase64(new Uint8Array(await response.arrayBuffer())) }
      }
      const [was, is] = [fold(events), fold(written)]
      const found = new Map(is.map(({ artifactId, parts }) => [artifactId, parts]))
      for (const { artifactId, parts } of was) {
        const restored = await Promise.all((found.get(artifactId) ?? []).map(back))
        expect(plain(restored)).toEqual(plain(parts))
        for (const each of found.get(artifactId) ?? [])
          if (each.type === 'file' && !each.data.startsWith('/api/'))
            expect(fromBase64(each.data)?.length).toBeLessThan(4097)
      }
    }),
    { numRuns: 300 },
  )
})
