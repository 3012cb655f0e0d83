import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type SpeakerText, SpeakingOrder } from '../../src/agents/work/speaking-order.ts'

const said = (text: string): SpeakerText => ({ type: 'text', text })

const textsOf = (all: Iterable<SpeakerText>) => Array.from(all, ({ text }) => text)

/** Plays a script of things said and ends, and gives what may be said at each line. */
function play(script: readonly (readonly [speaker: number, text?: string])[]): string[][] {
  const order = new SpeakingOrder()
  return script.map(([speaker, text]) => [
    ...textsOf(text === undefined ? order.end(speaker) : order.say(speaker, said(text))),
  ])
}

describe('SpeakingOrder', () => {
  it('lets the first speak at once', () => {
    expect(
      play([
        [0, 'a'],
        [0, 'b'],
      ]),
    ).toEqual([['a'], ['b']])
  })

  it('keeps others waiting until those before have ended', () => {
    expect(play([[1, 'b'], [0, 'a'], [1, 'c'], [0], [1, 'd']])).toEqual([
      [],
      ['a'],
      [],
      ['\n\nb', 'c'],
      ['d'],
    ])
  })

  it('lets those who have ended already speak in their turn', () => {
    expect(play([[2, 'c'], [2], [1, 'b'], [1], [0, 'a'], [0]])).toEqual([
      [],
      [],
      [],
      [],
      ['a'],
      ['\n\nb', '\n\nc'],
    ])
  })

  it('puts no blank line where somebody says nothing', () => {
    expect(play([[0], [1, ''], [1], [2, 'c']])).toEqual([[], [], [], ['c']])
  })

  it('keeps all that is said, by speaker, however they interleave', () => {
    const said = fc.array(fc.tuple(fc.nat({ max: 3 }), fc.string()))
    fc.assert(
      fc.property(said, lines => {
        const spoken = play([...lines, [3], [2], [1], [0]])
          .flat()
          .join('')
        const answers = [0, 1, 2, 3].map(speaker =>
          lines
            .filter(([who]) => who === speaker)
            .map(([, text]) => text)
            .join(''),
        )
        expect(spoken).toBe(answers.filter(answer => answer !== '').join('\n\n'))
      }),
    )
  })

  it('says who said it, also after a wait', () => {
    const order = new SpeakingOrder()
    const all = ['m', 'm', 'n'].map((agent, index) => ({ ...said(`${index}`), agent, parentId: 'p' }))
    for (const one of all) expect([...order.say(1, one)]).toEqual([])
    expect([...order.end(0)]).toEqual(all)
  })

  it('refuses to keep more than 8 Mi characters waiting, counting what waits now only', () => {
    const order = new SpeakingOrder()
    const large = 'x'.repeat(8 * 1024 * 1024)
    expect([...order.say(1, said(large))]).toEqual([])
    expect(() => [...order.say(2, said('x'))]).toThrow(expect.objectContaining({ code: 'run_too_large' }))
    const next = new SpeakingOrder()
    expect([...next.say(1, said(large)), ...next.end(0)]).toHaveLength(1)
    expect([...next.say(2, said(large))]).toEqual([])
  })
})
