import { type Answerable, lookOf, shownStatus } from './look.ts'

/** The shape of a status. A word must be beside it. */
export function Shape({ status }: { status: string }) {
  const { shape } = lookOf(status)
  return <i class={`i ${shape}`} />
}

/** A status: a shape and a word, so that it does not depend on colour. */
export function Status({ run, status = run ? shownStatus(run) : '' }: { run?: Answerable; status?: string }) {
  const { shape, word } = lookOf(status)
  return (
    <span class={`s ${shape} status ${status}`}>
      <i class={`i ${shape}`} />
      {word}
    </span>
  )
}
