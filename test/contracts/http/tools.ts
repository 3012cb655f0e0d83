import { describe, expect, it } from 'vitest'
import { ask, expectProblem, type Server } from './client.ts'

export function toolCases(server: Server): void {
  const get = async (path: string) => JSON.parse((await ask(server, path)).text)

  describe('GET /tools', () => {
    it('lists named tools before those of toolkits, each name once', async () => {
      const tools = await get('/tooled/tools')
      expect(tools.map(({ name }: { name: string }) => name)).toEqual([
        'add',
        'by a standard',
        'of a class',
        'sum',
      ])
      expect(tools[0]).toEqual({
        name: 'add',
        description: 'of the library',
        needsApproval: false,
        parameters: { type: 'object', properties: { a: { type: 'number' } } },
      })
    })

    it('shows one, with JSON Schema of whatever describes it, and its toolkit', async () => {
      expect(await get('/tooled/tools/sum')).toMatchObject({
        name: 'sum',
        description: null,
        toolkit: 'maths',
        parameters: {
          type: 'object',
          properties: { numbers: { type: 'array', items: { type: 'number' } } },
          required: ['numbers'],
        },
      })
      expect(await get('/tooled/tools/by%20a%20standard')).toMatchObject({
        toolkit: null,
        parameters: { type: 'object', required: ['city'] },
      })
      expect(await get('/tooled/tools/of%20a%20class')).toMatchObject({ parameters: null })
    })

    it('does not know others, nor any where none are given', async () => {
      await expectProblem(server, await ask(server, '/tooled/tools/nobody'), 404, 'tool_not_found')
      await expectProblem(server, await ask(server, '/tooled/tools/__proto__'), 404, 'tool_not_found')
      await expectProblem(server, await ask(server, '/api/tools'), 404, 'not_found')
    })
  })
}
