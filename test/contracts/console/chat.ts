/** A chat of the console on a server: a tool call, an approval, a file, a stop. */
import type { Browser } from 'playwright-core'
import { expect, it } from 'vitest'
import { PICTURE, talksToTool, Visitor } from './visitor.ts'

/** What agents do there. */
export interface Talks {
  /** An agent, what is said to it, the tool that it calls, and what it says then. */
  readonly tool: readonly [agent: string, words: string, tool: string, said: string]
  /** An agent, what is said to it, and what it says once its tool is approved. */
  readonly approval: readonly [agent: string, words: string, said: string]
  /** An agent that says one word after another. */
  readonly slow?: string
}

/** Those of the service of the contracts. */
export const TALKS: Talks = {
  tool: ['helper', 'Oslo', 'forecast', 'It will be clear in Oslo'],
  approval: ['remover', 'Oslo', 'removed Oslo'],
  slow: 'slow',
}

/** The cases. */
export function chatCases(
  server: () => { readonly url: string },
  browser: () => Browser,
  { tool, approval, slow }: Talks,
): void {
  const at = (agent: string) => Visitor.at(browser(), server().url, agent)

  it('has a chat with a tool call, again and after a reload', async () => {
    const [agent, words, name, said] = tool
    const visitor = await at(agent)
    await talksToTool(visitor, words, name, said)
    await visitor.button('Run again').click()
    await visitor.isSaid('Answer complete, 1 tool call')
    await visitor.page.reload()
    await visitor.answer.getByText(said).waitFor()
    expect(await visitor.messages()).toEqual([words])
    visitor.isClean()
  })

  it('goes on in the same answer once a tool is approved', async () => {
    const [agent, words, said] = approval
    const visitor = await at(agent)
    await visitor.say(words)
    await visitor.isSaid('The agent is waiting for you: 1 request')
    await visitor.button('Approve').click()
    await visitor.isSaid('Answer complete')
    await visitor.answer.getByText(said).waitFor()
    visitor.isClean()
  })

  it('sends a file', async () => {
    const visitor = await at('echo')
    await visitor.page
      .getByLabel('Attach files')
      .setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: PICTURE })
    await visitor.say('Look')
    await visitor.isSaid('Answer complete')
    const message = visitor.page.getByRole('article', { name: 'Your message' }).last()
    await message.getByRole('img').evaluate(image => (image as HTMLImageElement).decode())
    visitor.isClean()
  })

  if (slow === undefined) return
  it('stops an answer', async () => {
    const visitor = await at(slow)
    await visitor.say('1000')
    await visitor.answer.getByText('1 2 3').waitFor()
    await visitor.button('Stop').click()
    await visitor.isSaid('Answer stopped')
    visitor.isClean()
  })
}
