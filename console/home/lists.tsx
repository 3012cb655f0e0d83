import { lineOf, wishOf } from '../approvals/inbox.ts'
import { waitingRequests } from '../approvals/live.ts'
import { catalog, firstRun } from '../catalog.ts'
import { Ago, Left } from '../parts/ago.tsx'
import { Empty } from '../parts/empty.tsx'
import { Heads } from '../parts/heads.tsx'
import { Section } from '../parts/page.tsx'
import { Shape } from '../parts/status.tsx'
import { linkTo } from '../route.ts'
import { headlineOf } from '../runs/numbers.ts'
import { config } from '../service.ts'
import { firstLine, money, number, visible } from '../text.ts'
import { Spark } from './chart.tsx'
import { ofWhom, runsLink } from './links.ts'
import type { Stats } from './stats.ts'

/** Lines of each list. */
const LINES = 6

/** What waits for the user. */
export function Waiting() {
  const all = waitingRequests.value
  if (!config.value.plugins.includes('approvals')) return <section />
  return (
    <Section
      id="h-wait"
      title="Waiting for you"
      aside={
        <a class="push" href={linkTo('approvals')}>
          All {number(all.length)}
        </a>
      }
    >
      {all.length === 0 && <p class="soft">Nothing is waiting for you.</p>}
      <ul>
        {all.slice(0, LINES - 1).map(waiting => (
          <li key={waiting.request.id} class="item">
            <i class="i wait" />
            <span>
              <a href={linkTo('approvals', [waiting.request.id])}>{visible(lineOf(waiting))}</a>
              <br />
              <span class="soft">{visible(wishOf(waiting))}</span>
            </span>
            <span class="soft">
              {waiting.expiresAt ? <Left until={waiting.expiresAt} /> : <Ago at={waiting.createdAt} />}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** The runs that failed last, with the reason. */
export function Failures({ stats: { failures, runs }, span }: { stats: Stats; span: string }) {
  return (
    <Section
      id="h-fail"
      title="Newest failures"
      aside={
        <a class="push" href={runsLink({ last: span, status: 'failed' })}>
          All {number(failures.length)}
        </a>
      }
    >
      {failures.length === 0 && runs.length > 0 && <p class="soft">No run failed.</p>}
      {runs.length === 0 && <Empty command={firstRun()}>No runs yet. This command starts one:</Empty>}
      {failures.length > 0 && (
        <table class="list fails">
          <Heads
            of={[['Status', 'shape'], ['Input'], ['Agent', 'name'], ['Why', 'why'], ['Ago', 'number ago']]}
          />
          <tbody>
            {failures.slice(0, LINES).map(run => (
              <tr key={run.id}>
                <td class="shape">
                  <Shape status="failed" />
                  <span class="unseen">Failed</span>
                </td>
                <td>
                  <a
                    href={linkTo('runs', [run.id], {
                      ...ofWhom(),
                      last: span,
                      status: 'failed',
                      ...(run.owner && { of: run.owner }),
                    })}
                  >
                    {visible(headlineOf(run))}
                  </a>
                </td>
                <td class="name soft">{visible(run.name)}</td>
                <td class="why">{visible(firstLine(run.error?.message ?? '') || (run.error?.code ?? ''))}</td>
                <td class="number ago soft">
                  <Ago at={run.createdAt} isBare />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  )
}

/** The agents with the most runs. */
export function AgentTable({ stats: { agents }, span }: { stats: Stats; span: string }) {
  if (agents.length === 0) return <section />
  return (
    <Section
      id="h-agents"
      title="Agents"
      aside={
        <a class="push" href={linkTo('agents')}>
          All {number(Math.max(agents.length, catalog.value.targets.length))}
        </a>
      }
    >
      <table class="list agents">
        <Heads
          of={[
            ['Name'],
            [`Last ${span}`, 'spark'],
            ['Runs', 'number'],
            ['Failed', 'number'],
            ['Cost', 'number'],
          ]}
        />
        <tbody>
          {agents.slice(0, LINES).map(({ kind, name, steps, runs, failed, cost }) => (
            <tr key={`${kind} ${name}`}>
              <td>
                <a href={linkTo('agents', [kind, name])}>{visible(name)}</a>
              </td>
              <td class="spark">
                <Spark steps={steps} />
              </td>
              <td class="number">{number(runs)}</td>
              <td class={failed > 0 ? 'number bad' : 'number'}>{failed > 0 ? number(failed) : '–'}</td>
              <td class="number">{cost === undefined ? '–' : money(cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  )
}
