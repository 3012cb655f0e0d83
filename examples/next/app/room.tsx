import { useCallback, useEffect, useState } from 'react'
import type { KeptMessage } from 'servable/ai-sdk-ui/page'
import { Chat } from './chat.tsx'
import { kept, type Place, wordsOf } from './service-client.ts'

interface Props {
  readonly place: Place
  readonly description: string | null | undefined
  /** The service may know the chat. */
  readonly isKept: boolean
  readonly onChange: () => void
}

/** A chat as the service has kept it. Where the connection is lost, it is loaded again: the answer goes on meanwhile. */
export function Room({ place: { kind, name, id }, description, isKept, onChange }: Props) {
  const [load, setLoad] = useState(isKept ? 1 : 0)
  const [shown, setShown] = useState<Shown | undefined>(isKept ? undefined : { load: 0, messages: [] })
  const [problem, setProblem] = useState<string>()

  useEffect(() => {
    let isLeft = false
    if (load === 0) return
    setProblem(undefined)
    kept({ kind, name, id })
      .then(messages => isLeft || setShown({ load, messages }))
      .catch(error => isLeft || setProblem(wordsOf(error)))
    return () => {
      isLeft = true
    }
  }, [kind, name, id, load])

  const again = useCallback(() => setLoad(load => load + 1), [])

  return (
    <>
      {shown !== undefined && (
        <Chat
          key={shown.load}
          place={{ kind, name, id }}
          description={description}
          kept={shown.messages}
          isResumed={shown.load > 0}
          onChange={onChange}
          onLost={again}
        />
      )}
      {problem === undefined && shown?.load !== load && <p role="status">Loading…</p>}
      {problem !== undefined && (
        <p role="alert">
          {problem}{' '}
          <button type="button" onClick={again}>
            Try again
          </button>
        </p>
      )}
    </>
  )
}

interface Shown {
  /** Which load it is of; 0 for a new chat. */
  readonly load: number
  readonly messages: KeptMessage[]
}
