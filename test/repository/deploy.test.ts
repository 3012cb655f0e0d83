/** The files of `deploy` fit each other, the command that they start, and the page that walks through them. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Agent, createHandler, MetricsExporter, sequence, Team, textOf, Workflow } from '../../src/index.ts'
import { fencesOf } from '../pages/pages.ts'
import { root } from '../runtimes/process.ts'
import { type KubernetesObject, manifests, parsedYaml } from './manifests.ts'

const read = (path: string) => readFile(join(root, path), 'utf8')
const [page, files] = await Promise.all([read('docs/run/containers.md'), readdir(join(root, 'deploy'))])

/** An agent that is in no registry. */
const echo = () => new Agent({ name: 'echo', run: textOf, register: false })

/** Seconds that `servable start` gives to runs. */
const graceOf = async () => Number(/GRACE_S = (\d+)/.exec(await read('src/command/here/start.ts'))?.[1])

async function objectOf(kind: string): Promise<KubernetesObject> {
  const found = (await manifests()).filter(each => each.kind === kind)
  expect(found, kind).toHaveLength(1)
  return found[0] as KubernetesObject
}

it('each file is in the table of the page, which says how it is tested', () => {
  const [, table = ''] = page.split('| target | files | run here | how |')
  const [rows = ''] = table.split('\n\n')
  for (const file of files) expect(rows).toContain(`\`${file}\``)
})

it('no file of them gets into an image', async () => {
  const ignored = (await read('deploy/.dockerignore')).split('\n')
  expect(ignored).toEqual(expect.arrayContaining([...files, 'node_modules', '.git', '.env*', '.npmrc']))
})

it('the Dockerfile takes its base as an argument, and starts the command of the package', async () => {
  const [text, manifest] = await Promise.all([read('deploy/Dockerfile'), read('package.json')])
  expect(text.match(/^FROM \$\{BASE\}/gm)).toHaveLength(3)
  const program = JSON.parse(manifest).bin.servable.replace('./', '')
  expect(text).toContain(`ENTRYPOINT ["node", "node_modules/servable/${program}"]`)
  expect(text).toMatch(/^USER 1000:1000$/m)
  expect(text).toMatch(/^HEALTHCHECK /m)
})

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly image?: string
        readonly read_only?: boolean
        readonly command?: readonly string[]
        readonly environment?: Readonly<Record<string, string>>
        readonly stop_grace_period?: string
        readonly volumes?: readonly string[]
        readonly depends_on?: object
      }
    >
  >
}

it('Compose has three processes, which nginx names, and waits for longer than runs have', async () => {
  const { services } = await parsedYaml<Compose>(join(root, 'deploy/compose.yaml'))
  const nginx = await read('deploy/nginx.conf')
  const hosts = [...nginx.matchAll(/^ {2}server (\w+):3000/gm)].map(([, host]) => host)
  expect(hosts).toEqual(['one', 'two', 'three'])
  for (const host of hosts) {
    const service = services[host ?? '']
    expect(service).toMatchObject({
      image: 'agents',
      read_only: true,
      depends_on: { schema: { condition: 'service_completed_successfully' } },
    })
    expect(service?.environment?.DATABASE_URL).toMatch(/^postgres:\/\/servable:/)
    expect(Number.parseInt(service?.stop_grace_period ?? '', 10)).toBeGreaterThan(await graceOf())
  }
  expect(services.schema).toMatchObject({ command: ['store', 'migrate'], read_only: true })
  expect(services.schema?.environment?.DATABASE_URL).toMatch(/^postgres:\/\/postgres:/)
  const mounted = Object.values(services).flatMap(({ volumes = [] }) =>
    volumes.flatMap(volume => /^\.\/([^:]+):/.exec(volume)?.[1] ?? []),
  )
  expect(mounted.sort()).toEqual(['nginx.conf', 'roles.sql'])
  for (const file of mounted) expect(files).toContain(file)
})

it('Kubernetes gives runs the time that they have, and asks routes that there are', async () => {
  const { template, selector } = (await objectOf('Deployment')).spec
  const { containers, initContainers, terminationGracePeriodSeconds } = template.spec
  const [container] = containers
  const grace = Number(container.args.at(-1))
  expect(container.args).toEqual(['start', '--host', '0.0.0.0', '--grace', String(await graceOf())])
  const [, pause] = container.lifecycle.preStop.exec.command
  expect(terminationGracePeriodSeconds).toBeGreaterThan(grace + Number(pause) + 5)

  const handler = createHandler({ agents: { echo: echo() } })
  const { port, path } = container.readinessProbe.httpGet
  expect(container.ports).toContainEqual({ name: port, containerPort: 3000 })
  const health = await handler(new Request(`http://127.0.0.1${path}`))
  expect([health.status, await health.json()]).toEqual([200, expect.objectContaining({ live: true })])
  expect(container.livenessProbe.exec.command.at(-1)).toContain(path)
  const { annotations, labels } = template.metadata
  expect(annotations).toMatchObject({ 'prometheus.io/path': '/api/metrics', 'prometheus.io/port': '3000' })

  for (const each of [selector.matchLabels, (await objectOf('Service')).spec.selector])
    expect(each).toEqual(labels)
  expect((await objectOf('PodDisruptionBudget')).spec.selector.matchLabels).toEqual(labels)
  const job = (await objectOf('Job')).spec.template
  expect(job.metadata.labels).not.toEqual(labels)
  const all = [...containers, ...initContainers, ...job.spec.containers]
  expect(new Set(all.map(({ image }) => image)).size).toBe(1)
  for (const { securityContext, resources } of all) {
    expect(securityContext).toEqual({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    })
    expect(resources.limits).toHaveProperty('memory')
  }
  for (const { spec } of [template, job])
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
  expect([initContainers[0].args, job.spec.containers[0].args]).toEqual([
    ['store', 'check'],
    ['store', 'migrate'],
  ])
})

it('the autoscaler asks for the metric that the rule on the page makes of series that there are', async () => {
  const [{ pods }] = (await objectOf('HorizontalPodAutoscaler')).spec.metrics
  const rule = fencesOf(['containers.md']).find(({ text }) => text.startsWith('rules:'))?.text ?? ''
  expect(rule).toContain(`name: { as: ${pods.metric.name} }`)
  const [, pattern = ''] = /__name__=~"([^"]+)"/.exec(rule) ?? []
  const metricsExporter = new MetricsExporter()
  const agent = echo()
  const handler = createHandler({
    agents: { echo: agent },
    teams: { pair: new Team({ name: 'pair', members: [agent], strategy: sequence }) },
    workflows: { steps: new Workflow({ name: 'steps', run: textOf }) },
    metricsExporter,
  })
  const text = await (await handler(new Request('http://127.0.0.1/api/metrics'))).text()
  const names = new Set(text.split('\n').map(line => /^[a-z_]+/.exec(line)?.[0] ?? ''))
  const found = [...names].filter(name => new RegExp(`^(?:${pattern})$`).test(name))
  expect(found.sort()).toEqual(['agent', 'team', 'workflow'].map(kind => `service_${kind}_runs_active`))
})
