/** The agent that every server has: it repeats its input, word by word. */

/** Words of the input, and pieces of the answer. */
export const PIECES = 50

export const INPUT: string = Array.from({ length: PIECES }, (_, index) => `word${index}`).join(' ')

/** The same, with a turn of the event loop before each piece. Node alone has that. */
export const IN_TURNS = `turns ${INPUT}`

/** An input for which the agent says one piece, and one more at each `SAY`, until it is stopped. */
export const HOLD = 'hold'

/** An input at which every agent that holds says a piece. */
export const SAY = 'say'

/** The line that the process prints when the agent is stopped. */
export const STOPPED = 'the agent was stopped'

/** Gives the pieces. `signal` is missing if the server has no signal for its agent. */
export async function* echo(text: string, signal?: AbortSignal): AsyncGenerator<string> {
  if (text === HOLD) {
    yield* hold(signal)
    return
  }
  if (text === SAY) say()
  const inTurns = text.startsWith('turns ')
  for (const [word] of text.matchAll(/\S+\s*/g)) {
    if (inTurns) await new Promise(resolve => setImmediate(resolve))
    yield word
  }
}

let said = Promise.withResolvers<boolean>()

function say(): void {
  said.resolve(true)
  said = Promise.withResolvers()
}

async function* hold(signal: AbortSignal | undefined): AsyncGenerator<string> {
  const stopping = stopped(signal)
  do yield 'holding '
  while (await Promise.race([said.promise, stopping]))
}

function stopped(signal: AbortSignal | undefined): Promise<false> {
  const { promise, resolve } = Promise.withResolvers<false>()
  const stop = () => {
    console.log(STOPPED)
    resolve(false)
  }
  if (signal?.aborted) stop()
  else signal?.addEventListener('abort', stop, { once: true })
  return promise
}
