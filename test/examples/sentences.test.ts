import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitSentences, tidy } from '../../examples/agents/sentences.ts'
import { codePoint } from '../code-point.ts'

const tidied = (text: string) => splitSentences(text).map(tidy)

describe('splitSentences', () => {
  it.each<[string, string[]]>([
    ['One. Two! Three? Four', ['One.', 'Two!', 'Three?', 'Four']],
    ['all lower case. no capitals. really', ['all lower case.', 'no capitals.', 'really']],
    ['Dr. Smith met Mrs. Jones. They spoke.', ['Dr. Smith met Mrs. Jones.', 'They spoke.']],
    ['J. R. R. Tolkien wrote. We read.', ['J. R. R. Tolkien wrote.', 'We read.']],
    ['Fruit, e.g. Apples, i.e. Food. Good.', ['Fruit, e.g. Apples, i.e. Food.', 'Good.']],
    ['In the U.S. Army. In the U.S. The end.', ['In the U.S. Army.', 'In the U.S.', 'The end.']],
    ['At 5 p.m. he left. Then 6 p.m. came.', ['At 5 p.m. he left.', 'Then 6 p.m. came.']],
    ['See No. 5 and Fig. 2. He said no. Bye.', ['See No. 5 and Fig. 2.', 'He said no.', 'Bye.']],
    [
      'Acme Inc. makes it. We like Acme Inc. They know.',
      ['Acme Inc. makes it.', 'We like Acme Inc.', 'They know.'],
    ],
    ['Pi is 3.14 or so. It costs $3.50. Yes.', ['Pi is 3.14 or so.', 'It costs $3.50.', 'Yes.']],
    ['Use version 2.0. Visit example.com. Go.', ['Use version 2.0.', 'Visit example.com.', 'Go.']],
    ['"Stop!" he said. "Go." She went.', ['"Stop!" he said.', '"Go."', 'She went.']],
    ['He left (at last.) She stayed.', ['He left (at last.)', 'She stayed.']],
    ['Well… maybe. Wait... what? So... Yes.', ['Well… maybe.', 'Wait... what?', 'So...', 'Yes.']],
    ['Really?! Yes!!! No.', ['Really?!', 'Yes!!!', 'No.']],
    ['A line that\nwraps here. Next', ['A line that wraps here.', 'Next']],
    ['A line that\r\nwraps here. Next', ['A line that wraps here.', 'Next']],
    ['No stop\n\nNew paragraph', ['No stop', 'New paragraph']],
    ['No stop\r\n \r\nNew paragraph', ['No stop', 'New paragraph']],
    ['# Title\nText under it\n## More\ntext', ['# Title', 'Text under it', '## More', 'text']],
    ['Things:\n- one\n- two\n1. three', ['Things:', '- one', '- two', '1. three']],
    ['1. First. 2. Second.', ['1. First.', '2. Second.']],
    ['今日は。元気？はい！では', ['今日は。', '元気？', 'はい！', 'では']],
    ['「行こう。」と言った。そう。', ['「行こう。」と言った。', 'そう。']],
    ['他说：“你好。”我走了。', ['他说：“你好。”', '我走了。']],
    ['यह एक है। वह दो है। ठीक', ['यह एक है।', 'वह दो है।', 'ठीक']],
    ['هل هذا صحيح؟ نعم هذا صحيح.', ['هل هذا صحيح؟', 'نعم هذا صحيح.']],
    ['Das gilt z.B. Hier. Gut.', ['Das gilt z.B. Hier.', 'Gut.']],
    ['Это т.е. так. Да.', ['Это т.е. так.', 'Да.']],
    ['M. Dupont arrive. Il part.', ['M. Dupont arrive.', 'Il part.']],
  ])('cuts %j', (text, sentences) => {
    expect(tidied(text)).toEqual(sentences)
  })

  it('has nothing in nothing, and white space in white space', () => {
    expect(splitSentences('')).toEqual([])
    expect(splitSentences(' \n ')).toEqual([' \n '])
  })

  it('gives slices that join to the text, none of them blank', () => {
    const unit = fc.oneof(
      fc.constantFrom(...'.!?…。」") \n#-1aBDré'),
      fc.string({ unit: codePoint, maxLength: 1 }),
    )
    fc.assert(
      fc.property(fc.string({ unit }), text => {
        const slices = splitSentences(text)
        expect(slices.join('')).toBe(text)
        if (text.trim() !== '') expect(slices.every(slice => slice.trim() !== '')).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  it.each([
    ['stops', '.'.repeat(500_000)],
    ['line breaks', '\n'.repeat(500_000)],
    ['spaces', `a${' '.repeat(500_000)}b`],
    ['short lines', 'a \n'.repeat(200_000)],
    ['headings', '# a\n'.repeat(100_000)],
    ['wide stops', '。'.repeat(500_000)],
  ])('is done in time with many %s', (_, text) => {
    const startedAt = performance.now()
    splitSentences(text)
    expect(performance.now() - startedAt).toBeLessThan(3000)
  })
})
