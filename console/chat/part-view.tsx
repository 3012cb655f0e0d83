import type { ComponentChild } from 'preact'
import { Markdown } from '../markdown/markdown.tsx'
import { memo } from '../memo.ts'
import { Folded } from '../parts/folded.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { duration, visible } from '../text.ts'
import { Contents } from './file-view.tsx'
import type { Part, StepPart, ToolPart } from './parts.ts'

/** Most characters of arguments beside the name of a tool. */
const SHORT = 60

/** A part of an answer. `isWhole`: it is complete. */
export const PartView = memo(({ part, isWhole }: { part: Part; isWhole: boolean }) => (
  <div class={`part ${part.kind}`}>
    {part.agent !== undefined && part.kind !== 'tool' && <p class="soft">{visible(part.agent)}</p>}
    {contentOf(part, isWhole)}
  </div>
))

function contentOf(part: Part, isWhole: boolean): ComponentChild {
  switch (part.kind) {
    case 'text':
      return <Markdown text={part.text} isWhole={isWhole} />
    case 'reasoning':
      return <Folded summary="Reasoning">{() => <Markdown text={part.text} isWhole={isWhole} />}</Folded>
    case 'tool':
      return <Tool part={part} isWhole={isWhole} />
    case 'step':
      return <Step part={part} />
    case 'artifact':
      return <Contents parts={part.parts} name={part.name ?? part.artifactId} />
    case 'message':
      return <Contents parts={part.parts} name="" />
    case 'structured':
      return <JsonView value={part.value} label="output" />
  }
}

function Tool({ part, isWhole }: { part: ToolPart; isWhole: boolean }) {
  const { name, agent, args, argsText, result, error, code, durationMs, isDone } = part
  const given = args ?? argsText
  const short = typeof given === 'string' ? given : JSON.stringify(given)
  const [sign, word] = stateOf(part, isWhole)
  return (
    <Folded
      summary={
        <>
          <span aria-hidden="true">{sign}</span> {agent !== undefined && `${visible(agent)}: `}
          <strong>{visible(name)}</strong> <code>{visible(short.slice(0, SHORT))}</code>{' '}
          <span class="soft">{durationMs === undefined ? word : `${word}, ${duration(durationMs)}`}</span>
        </>
      }
    >
      {() => (
        <>
          <p>Arguments</p>
          <JsonView value={given} label={`arguments of ${name}`} />
          {isDone && error === undefined && (
            <>
              <p>Result</p>
              <JsonView value={result} label={`result of ${name}`} />
            </>
          )}
          {error !== undefined && (
            <p class="bad">
              {visible(error)} {code !== undefined && <code>{code}</code>}
            </p>
          )}
        </>
      )}
    </Folded>
  )
}

function stateOf({ isDone, error }: ToolPart, isWhole: boolean): readonly [sign: string, word: string] {
  if (error !== undefined) return ['✗', 'failed']
  if (isDone) return ['✓', 'done']
  return isWhole ? ['…', 'not done'] : ['●', 'running']
}

const SIGNS = { started: '●', progress: '●', completed: '✓', failed: '✗' } as const

function Step({ part: { name, status, text, durationMs, error } }: { part: StepPart }) {
  return (
    <>
      <p>
        <span aria-hidden="true">{SIGNS[status]}</span> Step <strong>{visible(name)}</strong>{' '}
        <span class="soft">{durationMs === undefined ? status : `${status}, ${duration(durationMs)}`}</span>
      </p>
      {text !== '' && (
        <Folded summary="What it says">{() => <Markdown text={text} isWhole={false} />}</Folded>
      )}
      {error !== undefined && <p class="bad">{visible(error)}</p>}
    </>
  )
}
