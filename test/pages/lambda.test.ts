/** The page about AWS Lambda: its function is bundled as the page says, and answers the events that the page shows. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { LambdaFunction } from '../../src/runtimes/lambda.ts'
import { awslambda, gathered } from '../runtimes/lambda/awslambda.ts'
import { root } from '../runtimes/process.ts'
import { commandsIn, fencesOf, snippetOf } from './pages.ts'

const AGENTS = `
import { Agent, textOf } from 'servable'
export const echo = new Agent({ name: 'echo', run: input => textOf(input) })
`

describe('the page about AWS Lambda', () => {
  const fences = fencesOf(['deploy-lambda.md'])
  let folder: string
  let handler: LambdaFunction
  beforeAll(async () => {
    vi.stubGlobal('awslambda', awslambda)
    // No test of this page asks the database.
    process.env.DATABASE_URL = 'postgres://127.0.0.1:1/agents'
    await mkdir(join(root, 'test/.tmp'), { recursive: true })
    folder = await mkdtemp(join(root, 'test/.tmp/lambda-'))
    await writeFile(join(folder, 'deploy-lambda.ts'), snippetOf('deploy-lambda.ts'))
    await writeFile(join(folder, 'agents.ts'), AGENTS)
    const paths = Object.fromEntries(
      [
        ['servable', 'index'],
        ['servable/lambda', 'runtimes/lambda'],
        ['servable/postgres', 'runtimes/postgres'],
      ].map(([name, file]) => [name, [join(root, `src/${file}.ts`)]]),
    )
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { paths } }))
    const [command = ''] = commandsIn(fences)
    const [, tool = '', ...args] = command.trim().split(' ')
    expect(tool).toBe('esbuild')
    await promisify(execFile)(join(root, 'node_modules/.bin', tool), args, { cwd: folder })
    ;({ handler } = await import(pathToFileURL(join(folder, 'dist/index.mjs')).href))
  })
  afterAll(async () => {
    vi.unstubAllGlobals()
    delete process.env.DATABASE_URL
    await rm(folder, { recursive: true, force: true })
  })

  const answerTo = async (event: object) => {
    const { to, pieces } = gathered()
    await handler(event, to, { getRemainingTimeInMillis: () => 2000 })
    return Buffer.concat(pieces).toString()
  }

  it('shows a function', async () => {
    const event = { rawPath: '/api/agents', requestContext: { http: { method: 'GET' } } }
    expect(await answerTo(event)).toMatch(/"statusCode":200.*"name":"echo"/s)
  })

  it('shows an event that wakes it', async () => {
    const event = fences.find(({ language }) => language === 'json')
    // The database is not there.
    expect(await answerTo(JSON.parse(event?.text ?? ''))).toContain('"statusCode":503')
  })
})
