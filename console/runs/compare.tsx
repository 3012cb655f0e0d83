import type { ComponentChildren } from 'preact'
import { Failure } from '../parts/notice.tsx'
import { Loading, Section } from '../parts/page.tsx'
import { Status } from '../parts/status.tsx'
import { linkTo, route } from '../route.ts'
import { textOfInput } from '../sessions/input-text.ts'
import { duration, money, number, visible } from '../text.ts'
import { differences } from './differences.ts'
import { type RunLog, useLog } from './log.ts'
import { costOf, tookMs } from './numbers.ts'

/** The most characters of a text that is compared. */
const MOST = 100_000

/** A run beside the one whose input it runs again: what is different is marked. */
export function Compare({ log, before }: { log: RunLog; before: string }) {
  const { log: other } = useLog(before)
  if (other?.error !== undefined) return <Failure error={other.error} />
  if (!other?.record || !other.isWhole || !log.record) return <Loading />
  const query = Object.fromEntries(route.value.query)
  const { view: _, ...others } = query
  const both = [other, log] as const
  return (
    <>
      {Object.entries(TEXTS).map(([name, of]) => (
        <Texts key={name} name={name} texts={both.map(each => of(each).slice(0, MOST)) as [string, string]} />
      ))}
      <Section id="numbers" title="Numbers">
        <table class="compared">
          <thead>
            <tr>
              <td />
              <th scope="col">
                <a href={linkTo('runs', [before], others)}>The run before</a>
              </th>
              <th scope="col">This run</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(FACTS).map(([name, of]) => (
              <Row key={name} name={name} values={both.map(of)} />
            ))}
          </tbody>
        </table>
      </Section>
    </>
  )
}

const FACTS: Readonly<Record<string, (log: RunLog) => ComponentChildren>> = {
  State: ({ record }) => record && <Status run={record} />,
  Took: ({ record }) => shown(record && tookMs(record), duration),
  'First text': ({ record }) => shown(record?.firstTextMs, duration),
  Cost: ({ record }) => shown(record && costOf(record), money),
  Tokens: ({ record }) => shown(record?.usage?.totalTokens, number),
  'Model calls': ({ bars }) => number(bars.all.filter(({ kind }) => kind === 'model').length),
  'Tool calls': ({ bars }) => number(bars.all.filter(({ kind }) => kind === 'tool').length),
}

function shown(value: number | undefined, as: (value: number) => string): string | undefined {
  return value === undefined ? undefined : as(value)
}

const TEXTS: Readonly<Record<string, (log: RunLog) => string>> = {
  Input: ({ input }) => (input === undefined ? '' : textOfInput(input)),
  Output: ({ record, text }) => record?.error?.message ?? (outputOf(record?.result) || text),
  Tools: ({ bars }) =>
    bars.all
      .filter(({ kind }) => kind === 'tool')
      .map(callOf)
      .join('\n'),
}

function outputOf({ text = '', structured }: { text?: string; structured?: object | null } = {}): string {
  return structured ? `${text}\n${JSON.stringify(structured, undefined, 2)}`.trim() : text
}

function callOf({ label, shows }: RunLog['bars']['all'][number]): string {
  const { args, result, error } = Object(shows)
  return `${label} ${JSON.stringify(args) ?? ''}\n  ${error ?? JSON.stringify(result) ?? ''}`
}

function Row({ name, values }: { name: string; values: readonly ComponentChildren[] }) {
  if (values.every(value => value === undefined)) return null
  const [before, now] = values
  const isSame = typeof before === 'object' || before === now
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{before ?? <span class="soft">none</span>}</td>
      <td>{isSame ? now : <ins>{now ?? 'none'}</ins>}</td>
    </tr>
  )
}

function Texts({ name, texts }: { name: string; texts: readonly [string, string] }) {
  const [before, now] = texts
  if (before === '' && now === '') return null
  const isSame = before === now
  const [left, right] = differences(before, now)
  return (
    <Section
      id={`compared-${name}`}
      title={name}
      aside={<span class="soft">{isSame ? 'the same' : 'different'}</span>}
    >
      {isSame ? (
        <pre class="quote">{visible(now)}</pre>
      ) : (
        <div class="pair">
          <figure>
            <figcaption class="soft small">The run before</figcaption>
            <pre class="quote">
              {left.map(({ text, isDifferent }, index) =>
                isDifferent ? <del key={index}>{visible(text)}</del> : visible(text),
              )}
            </pre>
          </figure>
          <figure>
            <figcaption class="soft small">This run</figcaption>
            <pre class="quote">
              {right.map(({ text, isDifferent }, index) =>
                isDifferent ? <ins key={index}>{visible(text)}</ins> : visible(text),
              )}
            </pre>
          </figure>
        </div>
      )}
    </Section>
  )
}
