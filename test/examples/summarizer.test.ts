import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitSentences, tidy } from '../../examples/agents/sentences.ts'
import { readRequest } from '../../examples/agents/summarizer.ts'
import { summarize } from '../../examples/agents/summary.ts'
import { countWords, keywords } from '../../examples/agents/words.ts'
import { summarizer } from '../../examples/agents.ts'
import { pieces, post, run, stream } from './served.ts'

const BRIDGES = `Bridges carry roads over rivers. My aunt likes tea. Stone bridges were the first bridges that the
Romans built over wide rivers. It rained on Monday. Later engineers built iron bridges, and roads over rivers became
common. He nodded. Steel bridges now carry the widest roads over rivers.`

const words = 'river bridge stone road the of and iron water Dr. 3.14 e.g. it builds'.split(' ')
const sentence = fc
  .tuple(fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 12 }), fc.constantFrom('.', '!', '?'))
  .map(([list, stop]) => `${list.join(' ')} end${stop}`)
const text = fc
  .array(fc.tuple(sentence, fc.constantFrom(' ', '\n', '\n\n', '  ')), { minLength: 1, maxLength: 20 })
  .map(list => list.flat().join(''))

/** Whether `part` is `whole` with some items left out. */
function isSubsequence(part: readonly string[], whole: readonly string[]): boolean {
  let at = -1
  return part.every(item => {
    at = whole.indexOf(item, at + 1)
    return at !== -1
  })
}

describe('summarizer', () => {
  it('answers with the three most telling sentences, in their order', async () => {
    const result = await run('agents/summarizer', BRIDGES)
    expect(splitSentences(result.text).map(tidy)).toEqual([
      'Bridges carry roads over rivers.',
      'Later engineers built iron bridges, and roads over rivers became common.',
      'Steel bridges now carry the widest roads over rivers.',
    ])
    expect(result).toMatchObject({ finishReason: 'stop', toolCalls: [] })
  })

  it('streams sentence by sentence', async () => {
    const events = await stream('agents/summarizer', BRIDGES)
    expect(events.map(({ type }) => type)).toEqual(['text', 'text', 'text', 'finish'])
    expect(pieces(events).join('')).toBe((await summarizer.run(BRIDGES)).text)
  })

  it.each([
    'in 2 sentences: ',
    'In two sentences:\n',
    'Summarize this in 2 sentences: ',
    'please summarise the following text in two short sentences.\n\n',
  ])('gives two sentences after %j', async instruction => {
    expect(pieces(await stream('agents/summarizer', instruction + BRIDGES))).toHaveLength(2)
  })

  it('gives as many sentences as the message asks for at its end', async () => {
    const asked = `${BRIDGES} Please summarize this in one sentence.`
    expect((await run('agents/summarizer', asked)).text).toBe('Bridges carry roads over rivers.')
  })

  it('gives a text back as it is when it is short enough', async () => {
    const short = '  One line\nthat wraps.\n\nAnd   another.  '
    expect((await run('agents/summarizer', short)).text).toBe(short)
    expect((await run('agents/summarizer', `in 9 sentences: ${BRIDGES}`)).text).toBe(BRIDGES)
  })

  it('counts words as tokens, and characters where a script has no spaces', async () => {
    expect((await run('agents/summarizer', 'One two. Three')).usage).toEqual({
      promptTokens: 3,
      completionTokens: 3,
      totalTokens: 6,
    })
    expect(countWords("it's 漢字 two-part 3.5")).toBe(1 + 2 + 2 + 2)
  })

  it('puts no space after a stop of a script that has none', async () => {
    const chinese = '桥在河上。我喜欢茶。石桥是罗马人在河上建的桥。今天下雨。铁桥在河上。'
    const result = await run('agents/summarizer', `in 2 sentences: ${chinese}`)
    expect(splitSentences(result.text)).toHaveLength(2)
    expect(result.text).not.toContain(' ')
  })

  it.each(['  ', 'Summarize in 2 sentences: '])('refuses %j, which has no text', async input => {
    const response = await post('agents/summarizer/run', input)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'invalid_input' })
  })

  it('refuses a message of images alone', async () => {
    await expect(summarizer.run([{ type: 'image', data: 'AAAA' }])).rejects.toMatchObject({
      code: 'invalid_input',
    })
  })

  it('gives sentences of the text in their order, and no more than asked for', async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 12 }), async (input, count) => {
        const events = await stream('agents/summarizer', `in ${count} sentences: ${input}`)
        const all = splitSentences(input).map(tidy)
        const said = pieces(events).map(tidy)
        expect(said).toHaveLength(Math.min(count, all.length))
        expect(isSubsequence(said, all)).toBe(true)
      }),
    )
  })
})

describe('summarize', () => {
  it('chooses no heading and no sentence twice while there are others', () => {
    const repeated = `# Bridges over rivers\n\n${'Bridges cross rivers. '.repeat(3)}Tea is good. Rain is wet.`
    expect(summarize(repeated, 3).map(tidy)).toEqual([
      'Bridges cross rivers.',
      'Tea is good.',
      'Rain is wet.',
    ])
  })

  it('keeps to its bound for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 5 }), (input, count) => {
        expect(summarize(input, count).length).toBeLessThanOrEqual(count)
      }),
    )
  })

  it('is done in time with a megabyte', () => {
    const startedAt = performance.now()
    summarize('The bridge over the wide river carries a road. '.repeat(21_000), 3)
    expect(performance.now() - startedAt).toBeLessThan(5000)
  })
})

describe('readRequest', () => {
  it.each<[string, string, number]>([
    ['Some text. More.', 'Some text. More.', 3],
    ['in 2 sentences: Text', 'Text', 2],
    ['in 0 sentences: Text', 'Text', 1],
    ['In ten sentences:\nText', 'Text', 10],
    ['Summarize: Text: more', 'Text: more', 3],
    ['Summarise this text\nText', 'Text', 3],
    ['Sum up in one sentence: Text', 'Text', 1],
    ['Please, summarize in 4 sentences. Text', 'Text', 4],
    ['Text. Summarize it in 2 sentences', 'Text.', 2],
    ['Text? please summarise this in two sentences!\n', 'Text?', 2],
    ['Summarize findings quickly. Text', 'Summarize findings quickly. Text', 3],
    ['In two sentences, the judge ended it.', 'In two sentences, the judge ended it.', 3],
    ['Summary: Text', 'Summary: Text', 3],
    ['He wrote in 2 sentences: short ones', 'He wrote in 2 sentences: short ones', 3],
  ])('reads %j', (message, expected, count) => {
    expect(readRequest(message)).toEqual({ text: expected, count })
  })
})

describe('keywords', () => {
  it('gives the most frequent words that mean something', () => {
    expect(keywords('The river and the bridge. A river is a river by the bridge of the town.', 2)).toEqual([
      'river',
      'bridge',
    ])
  })
})
