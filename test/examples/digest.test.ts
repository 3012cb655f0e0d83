import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitSections } from '../../examples/agents/sections.ts'
import { digest } from '../../examples/agents.ts'
import { pieces, post, run, stream } from './served.ts'

const GUIDE = `Rivers matter.

# Bridges

Bridges carry roads over rivers. Tea is nice. Stone bridges over rivers carry roads.

## Repairs ##

- Check the stones.

### Empty

\`\`\`sh
# not a heading
\`\`\`
`

describe('digest', () => {
  it('writes an outline of the sections', async () => {
    const result = await run('workflows/digest', GUIDE)
    expect(result.text).toBe(`- Rivers matter.

# Bridges

- Bridges carry roads over rivers.
- Stone bridges over rivers carry roads.

## Repairs

- Check the stones.

### Empty`)
    expect(result.steps?.map(step => step.name)).toEqual(['split', 'summarize', 'outline'])
  })

  it('streams the outline section by section, and the summaries as progress', async () => {
    const events = await stream('workflows/digest', GUIDE)
    expect(pieces(events)).toHaveLength(4)
    const progress = events.filter(event => event.type === 'step' && event.status === 'progress')
    expect(progress.map(event => event.type === 'step' && event.name)).toContain('summarize')
    expect(events.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' })
  })

  it('titles a text without headings by its keywords', async () => {
    const result = await digest.run('The river floods. The river rises.\n\nA dam holds the river.')
    expect(result.text).toMatch(/^## River, floods, rises\n\n- The river floods\.\n- /)
  })

  it('keeps a heading with nothing under it', async () => {
    expect((await digest.run('# One\n## Two\nText')).text).toBe('# One\n\n## Two\n\n- Text')
  })

  it('refuses a message without text', async () => {
    const response = await post('workflows/digest/run', ' \n ')
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'invalid_input' })
  })

  it('ends any text but a blank one in an outline', async () => {
    const unit = fc.constantFrom('# ', '\n', 'word ', '. ', '\n\n', '```', '- ', '漢字。', '1. ')
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit }).filter(text => text.trim() !== ''),
        async text => {
          expect((await digest.run(text)).text).not.toBe('')
        },
      ),
    )
  })
})

describe('splitSections', () => {
  it('cuts at headings, whatever ends the lines', () => {
    expect(splitSections('# A\r\none\r\n### B\r\n\r\ntwo\r\n')).toEqual([
      { title: 'A', level: 1, text: 'one' },
      { title: 'B', level: 3, text: 'two' },
    ])
  })

  it('leaves code out, and takes no hash without a space for a heading', () => {
    expect(splitSections('#tag\n```\n# code\n```\n# Real')).toEqual([
      { title: '', level: 1, text: '#tag' },
      { title: 'Real', level: 1, text: '' },
    ])
  })

  it('keeps hashes that belong to the title', () => {
    expect(splitSections('# C#\n# F# #').map(section => section.title)).toEqual(['C#', 'F#'])
  })

  it('groups paragraphs until there is enough to summarize', () => {
    const paragraph = 'The river floods the town again. '.repeat(10)
    const sections = splitSections(Array(6).fill(paragraph).join('\n\n'))
    expect(sections.map(section => section.text.split('\n\n').length)).toEqual([3, 3])
  })
})
