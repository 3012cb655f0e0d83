import { useState } from 'preact/hooks'
import type { RunInput, RunRecord } from '../../src/client/index.ts'
import { Contents } from '../chat/file-view.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { JsonTree } from '../parts/json-tree.tsx'
import { Notice } from '../parts/notice.tsx'
import { Section } from '../parts/page.tsx'
import { textOfInput } from '../sessions/input-text.ts'
import { visible } from '../text.ts'
import type { RunLog } from './log.ts'

/** What was asked, and what came of it: the answer, or why there is none. */
export function Story({ record, log }: { record: RunRecord; log: RunLog; version: number }) {
  const { input } = log
  return (
    <>
      {input !== undefined && <Input input={input} />}
      {record.error && (
        <Section id="error" title="Error" aside={<CopyButton text={record.error.message} label="error" />}>
          <Notice kind="error">
            {visible(record.error.message)} <code>{record.error.code}</code>
          </Notice>
        </Section>
      )}
      <Output record={record} log={log} />
    </>
  )
}

function Input({ input }: { input: RunInput }) {
  const text = textOfInput(input)
  return (
    <Section
      id="input"
      title="Input"
      aside={
        <span class="push">
          <CopyButton text={text} label="input" />
        </span>
      }
    >
      {typeof input === 'string' ? (
        <p class="said quote plain" dir="auto">
          {visible(input)}
        </p>
      ) : (
        <div class="said quote">
          <Contents parts={input} name="" />
        </div>
      )}
    </Section>
  )
}

/** The answer: its text as Markdown or as it came, its object as a tree, and its files. */
function Output({ record, log }: { record: RunRecord; log: RunLog }) {
  const [isSource, setSource] = useState(false)
  const { result, status } = record
  const text = result?.text ?? log.text
  const structured = result?.structured ?? undefined
  const artifacts = result?.artifacts ?? []
  const isRunning = status === 'running'
  if (text === '' && structured === undefined && artifacts.length === 0) return null
  return (
    <Section
      id="output"
      title={record.error ? 'Output before the error' : 'Output'}
      aside={
        <>
          {text !== '' && (
            <fieldset class="seg push" aria-label="Show as">
              <button type="button" aria-pressed={!isSource} onClick={() => setSource(false)}>
                Text
              </button>
              <button type="button" aria-pressed={isSource} onClick={() => setSource(true)}>
                Source
              </button>
            </fieldset>
          )}
          {text !== '' && <CopyButton text={text} label="output" />}
        </>
      }
    >
      {text !== '' &&
        (isSource ? <pre class="quote">{visible(text)}</pre> : <Markdown text={text} isWhole={!isRunning} />)}
      {structured !== undefined && <JsonTree value={structured} label="output" />}
      {artifacts.map(({ artifactId, name, parts }) => (
        <Contents key={artifactId} parts={parts} name={name ?? artifactId} />
      ))}
    </Section>
  )
}
