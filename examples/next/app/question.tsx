import type { ToolUIPart } from 'ai'
import type { FormEvent } from 'react'
import { jsonOf } from './parts.tsx'

interface Props {
  readonly call: ToolUIPart
  readonly canAnswer: boolean
  readonly onAnswer: (output: unknown) => void
}

/** The parts of a question's JSON Schema that this page knows. */
interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
}

/** What an agent asks a person, and the answer. */
export function Question({ call, canAnswer, onAnswer }: Props) {
  const { message, schema } = (call.input ?? {}) as { readonly message?: string; readonly schema?: Schema }

  function answer(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    onAnswer(answerIn(String(new FormData(event.currentTarget).get('answer')), schema))
  }

  return (
    <div className="question">
      <p>{message}</p>
      {call.state === 'output-available' && <p className="words">{jsonOf(call.output)}</p>}
      {call.state === 'input-available' && canAnswer && (
        <form aria-label="Question" onSubmit={answer}>
          <Field label={message ?? 'Answer'} schema={schema} />
          <button type="submit">Answer</button>
        </form>
      )}
    </div>
  )
}

function Field({ label, schema }: { readonly label: string; readonly schema: Schema | undefined }) {
  const choices = schema?.type === 'boolean' ? [true, false] : schema?.enum
  if (choices === undefined) {
    const type = isNumber(schema) ? 'number' : 'text'
    return <input name="answer" aria-label={label} type={type} step="any" required />
  }
  return (
    <select name="answer" aria-label={label}>
      {choices.map(choice => (
        <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
          {choice === true ? 'Yes' : choice === false ? 'No' : String(choice)}
        </option>
      ))}
    </select>
  )
}

/** What was chosen or typed, as the schema has it. */
function answerIn(text: string, schema: Schema | undefined): unknown {
  if (schema?.type === 'boolean' || schema?.enum !== undefined) return JSON.parse(text)
  return isNumber(schema) ? Number(text) : text
}

const isNumber = (schema: Schema | undefined) => schema?.type === 'number' || schema?.type === 'integer'
